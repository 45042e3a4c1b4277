"""A stand-in for an SSH server that is not OpenSSH, by asyncssh: two prompts in one round, a round
without prompts, and RSA keys as RFC 8332 has them.

Arguments: the host key, the authorized keys. It prints its port, and ends with its standard input.
"""

import asyncio
import sys

import asyncssh


class Asking(asyncssh.SSHServer):
    rounds = 0

    def begin_auth(self, username):
        return True

    def kbdint_auth_supported(self):
        return True

    def get_kbdint_challenge(self, username, lang, submethods):
        self.rounds = 1
        return "Second step", "Look at your token", "", [("Colour: ", True), ("Code: ", False)]

    def validate_kbdint_response(self, username, responses):
        self.rounds += 1
        if self.rounds == 2:
            return ("", "Thank you", "", []) if responses == ["blue", "42"] else False
        return responses == []


async def serve():
    host_key, authorized_keys = sys.argv[1:]
    server = await asyncssh.create_server(
        Asking, "127.0.0.1", 0, server_host_keys=[host_key],
        authorized_client_keys=authorized_keys)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(serve())
