#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

// Swift does not import macros that are made of others.
enum { pocket_key_pair = EVP_PKEY_KEYPAIR, pocket_unsupported = ERR_R_UNSUPPORTED };
