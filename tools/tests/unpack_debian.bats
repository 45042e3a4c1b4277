#!/usr/bin/env bats
# What tools/unpack-debian says when it cannot do its work; that it can, the lanes that use it show.

bats_require_minimum_version 1.5.0

setup() {
  unpack_debian=$BATS_TEST_DIRNAME/../unpack-debian
  folder=$BATS_TEST_TMPDIR/folder
}

@test 'a folder that is there is complete and costs nothing' {
  mkdir "$folder"
  PATH=/nonexistent run -0 "$BASH" "$unpack_debian" trixie "$folder" libssh2-1t64
  [ -z "$output" ]
}

@test 'without apt it says so and leaves no folder' {
  mkdir "$BATS_TEST_TMPDIR/bin"
  ln -s "$(command -v dirname)" "$BATS_TEST_TMPDIR/bin"
  PATH=$BATS_TEST_TMPDIR/bin run -1 "$BASH" "$unpack_debian" trixie "$folder" libssh2-1t64
  [[ $output = 'folder: this machine has no apt-get'* ]]
  [ ! -e "$folder" ]
}

@test "a mirror that does not answer is named in apt's words, and leaves no folder" {
  command -v apt-get >/dev/null || skip 'no apt-get here'
  printf 'Acquire::http::Proxy "http://127.0.0.1:9"; Acquire::https::Proxy "http://127.0.0.1:9";\n' \
    >"$BATS_TEST_TMPDIR/apt.conf"
  APT_CONFIG=$BATS_TEST_TMPDIR/apt.conf run -1 "$unpack_debian" trixie "$folder" libssh2-1t64
  [[ $output = 'folder: apt-get update: '[EW]': '* ]]
  [ ! -e "$folder" ]
}
