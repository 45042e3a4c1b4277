#pragma once
#include <libssh2.h>

typedef ssize_t (*pocket_ssh2_receive)(libssh2_socket_t, void *, size_t, int, void **);
typedef ssize_t (*pocket_ssh2_send)(libssh2_socket_t, const void *, size_t, int, void **);

// libssh2 1.11 deprecated session_callback_set, which took a function as a data pointer.
static inline void pocket_ssh2_set_socket_callbacks(LIBSSH2_SESSION *session,
                                                    pocket_ssh2_receive receive,
                                                    pocket_ssh2_send send) {
#if LIBSSH2_VERSION_NUM >= 0x010b00
  libssh2_session_callback_set2(session, LIBSSH2_CALLBACK_RECV, (libssh2_cb_generic *)receive);
  libssh2_session_callback_set2(session, LIBSSH2_CALLBACK_SEND, (libssh2_cb_generic *)send);
#else
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_RECV, (void *)receive);
  libssh2_session_callback_set(session, LIBSSH2_CALLBACK_SEND, (void *)send);
#endif
}
