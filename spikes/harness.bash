# shellcheck shell=bash
# A real sshd for bats suites: on a free loopback port, with keys, config and known_hosts of its own.
#
# As root, one throw-away user for each login shell; the ssh aliases `bash`, `dash`, `zsh`, `fish`,
# `tcsh`, `ksh` and `host` (= bash) lead to them. Otherwise the current user, with a temporary HOME,
# under the alias of their own login shell and `host`. Nothing of the machine's own ~/.ssh is read.
# A suite calls spikes_start in setup_file and spikes_stop in teardown_file.

[ -z "${BATS_VERSION:-}" ] || bats_require_minimum_version 1.5.0

SPIKES_SOURCE=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
# shellcheck disable=SC2034
SPIKES_SHELLS='bash dash zsh fish tcsh ksh'
# A version manager's shim in front of python3 costs more than the whole program.
SPIKES_PYTHON=/usr/bin/python3
[ -x "$SPIKES_PYTHON" ] || SPIKES_PYTHON=python3

# spikes_start [SHELL...]: sshd, and the users for these login shells (none: bash alone).
spikes_start() {
  local shell
  [ $# -gt 0 ] || set -- bash
  SPIKES_DIR=$(mktemp -d /tmp/pocket-spikes.XXXXXX)
  export SPIKES_DIR SPIKES_SSH_CONFIG="$SPIKES_DIR/ssh_config"
  chmod 711 "$SPIKES_DIR"
  mkdir -m 711 "$SPIKES_DIR/home"
  ssh-keygen -q -t ed25519 -N '' -C spikes -f "$SPIKES_DIR/host_key"
  ssh-keygen -q -t ed25519 -N '' -C spikes -f "$SPIKES_DIR/client_key"
  cp "$SPIKES_DIR/client_key.pub" "$SPIKES_DIR/authorized_keys"
  chmod 644 "$SPIKES_DIR/authorized_keys"
  : >"$SPIKES_DIR/users"
  if [ "$(id -u)" = 0 ]; then
    spikes_sweep
    [ -d /run/sshd ] || mkdir -m 755 /run/sshd
    for shell; do spikes_add_user "$shell"; done
  else
    shell=$(spikes_own_shell)
    mkdir -m 700 "$SPIKES_DIR/home/$shell"
    printf '%s %s\n' "$shell" "$(id -un)" >>"$SPIKES_DIR/users"
  fi
  if [ "${SPIKES_UTILITIES:-}" = busybox ]; then
    spikes_busybox "$SPIKES_DIR/busybox" || return 1
    for shell in $(spikes_hosts); do
      # For the login bash, whose /etc/profile sets PATH anew; sshd gives it to all before that.
      printf 'PATH=%s:$PATH\n' "$SPIKES_DIR/busybox" | put "$shell" .bash_profile
    done
  fi
  spikes_start_sshd
}

# The aliases of all users.
spikes_hosts() { cut -d ' ' -f 1 "$SPIKES_DIR/users"; }

# A folder with every utility of busybox; fails where there is no busybox.
spikes_busybox() {
  local busybox name
  busybox=$(command -v busybox) || return 1
  mkdir "$1"
  for name in $("$busybox" --list); do ln -s "$busybox" "$1/$name"; done
}

# The name of the current user's login shell.
spikes_own_shell() {
  local shell
  shell=$(getent passwd "$(id -u)" | cut -d : -f 7)
  printf '%s\n' "${shell##*/}"
}

# A throw-away user whose login shell is $1, where that shell is installed.
spikes_add_user() {
  local path name=pkt$$$1 home=$SPIKES_DIR/home/$1 tries=0
  path=$(command -v "$1") || return 0
  mkdir -m 700 "$home"
  # Several suites add users at once, and useradd gives up on a locked password file.
  # '*' is no password, while the default '!' would lock the account for keys too.
  until useradd -M -d "$home" -s "$path" -p '*' "$name" 2>"$SPIKES_DIR/useradd"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 100 ]; then
      cat "$SPIKES_DIR/useradd" >&2
      return 1
    fi
    sleep 0.1
  done
  printf '%s %s\n' "$1" "$name" >>"$SPIKES_DIR/users"
  chown "$name:" "$home"
}

spikes_remove_user() {
  local tries=0
  spikes_kill_user "$1"
  until userdel "$1" 2>/dev/null || ! id "$1" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || return 1
    sleep 0.1
  done
}

# Ends every process of a throw-away user.
spikes_kill_user() {
  local uid entry
  uid=$(id -u "$1" 2>/dev/null) || return 0
  [ "$uid" -gt 0 ] || return 1
  for entry in /proc/[0-9]*; do
    [ "$(stat -c %u "$entry" 2>/dev/null)" = "$uid" ] || continue
    kill -CONT "${entry#/proc/}" 2>/dev/null
    kill -KILL "${entry#/proc/}" 2>/dev/null
  done
  return 0
}

# Removes the users of suites that were killed before they could do it themselves.
spikes_sweep() {
  local name owner
  while IFS=: read -r name _; do
    case $name in pkt[0-9]*sh) ;; *) continue ;; esac
    owner=${name#pkt}
    owner=${owner%%[!0-9]*}
    kill -0 "$owner" 2>/dev/null || spikes_remove_user "$name"
  done </etc/passwd
}

spikes_write_sshd_config() {
  printf '%s\n' \
    "ListenAddress 127.0.0.1:$1" \
    "HostKey $SPIKES_DIR/host_key" \
    "AuthorizedKeysFile $SPIKES_DIR/authorized_keys" \
    "PidFile $SPIKES_DIR/sshd.pid" \
    'AuthenticationMethods publickey' \
    'StrictModes no' 'UseDNS no' 'PrintMotd no' 'PrintLastLog no' \
    'MaxStartups 500' 'MaxSessions 200' 'LoginGraceTime 60'
  [ "$(id -u)" != 0 ] || printf 'UsePAM no\n'
  local set=()
  [ "$(id -u)" = 0 ] || set+=("HOME=$SPIKES_DIR/home/$(spikes_own_shell)")
  [ "${SPIKES_UTILITIES:-}" != busybox ] || set+=("PATH=$SPIKES_DIR/busybox:/usr/local/bin:/usr/bin:/bin")
  # sshd takes only the first such line.
  [ "${#set[@]}" = 0 ] || printf 'SetEnv %s\n' "${set[*]}"
}

spikes_start_sshd() {
  local tries=0 sshd=/usr/sbin/sshd
  [ -x "$sshd" ] || sshd=$(command -v sshd)
  while :; do
    # No port can be reserved for sshd, so another one is taken when somebody was quicker.
    SPIKES_PORT=$("$SPIKES_PYTHON" -c \
      'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    spikes_write_sshd_config "$SPIKES_PORT" >"$SPIKES_DIR/sshd_config"
    # From 9.8 on sshd shuts out an address after failures, which some suites cause.
    if "$sshd" -t -f "$SPIKES_DIR/sshd_config" -o PerSourcePenalties=no 2>/dev/null; then
      printf 'PerSourcePenalties no\n' >>"$SPIKES_DIR/sshd_config"
    fi
    # 3 is the descriptor on which bats waits for its tests to end. Orphans of this sshd stay
    # zombies, on every machine, because unreaping.py adopts them and never waits.
    "$SPIKES_PYTHON" "$SPIKES_SOURCE/unreaping.py" "$sshd" -D -e -f "$SPIKES_DIR/sshd_config" \
      >"$SPIKES_DIR/sshd.log" 2>&1 </dev/null 3>&- &
    SPIKES_KEEPER=$!
    export SPIKES_PORT SPIKES_KEEPER
    spikes_write_ssh_config >"$SPIKES_SSH_CONFIG"
    if spikes_wait 10 spikes_sshd_listens; then return 0; fi
    kill "$SPIKES_KEEPER" 2>/dev/null
    tries=$((tries + 1))
    if [ "$tries" -ge 5 ]; then
      cat "$SPIKES_DIR/sshd.log" >&2
      return 1
    fi
  done
}

spikes_sshd_listens() {
  [ -s "$SPIKES_DIR/sshd.pid" ] && grep -q 'Server listening' "$SPIKES_DIR/sshd.log"
}

spikes_write_ssh_config() {
  local shell name
  printf '[127.0.0.1]:%s %s\n' "$SPIKES_PORT" "$(cat "$SPIKES_DIR/host_key.pub")" \
    >"$SPIKES_DIR/known_hosts"
  while read -r shell name; do
    printf 'Host %s\n  User %s\n' "$shell" "$name"
    [ "$shell" != "$(spikes_first_shell)" ] || printf 'Host host\n  User %s\n' "$name"
  done <"$SPIKES_DIR/users"
  printf '%s\n' 'Host *' \
    '  HostName 127.0.0.1' \
    "  Port $SPIKES_PORT" \
    "  IdentityFile $SPIKES_DIR/client_key" \
    '  IdentitiesOnly yes' '  IdentityAgent none' \
    "  UserKnownHostsFile $SPIKES_DIR/known_hosts" \
    '  GlobalKnownHostsFile /dev/null' '  StrictHostKeyChecking yes' \
    '  BatchMode yes' '  RequestTTY no' '  LogLevel ERROR' '  ConnectTimeout 20'
}

spikes_first_shell() {
  local shell
  read -r shell _ <"$SPIKES_DIR/users"
  printf '%s\n' "$shell"
}

# Ends sshd and all that it started, removes users and files. Safe after a spikes_start that failed.
spikes_stop() {
  local name entry
  [ -n "${SPIKES_DIR:-}" ] || return 0
  [ ! -s "$SPIKES_DIR/sshd.pid" ] || kill "$(cat "$SPIKES_DIR/sshd.pid")" 2>/dev/null
  if [ "$(id -u)" = 0 ]; then
    while read -r _ name; do
      case $name in pkt*) spikes_remove_user "$name" ;; esac
    done <"$SPIKES_DIR/users"
  else
    for entry in /proc/[0-9]*; do
      [ -O "$entry" ] || continue
      grep -qaF "HOME=$SPIKES_DIR/home/" "$entry/environ" 2>/dev/null || continue
      kill -KILL "${entry#/proc/}" 2>/dev/null
    done
  fi
  [ -z "${SPIKES_KEEPER:-}" ] || kill -KILL "$SPIKES_KEEPER" 2>/dev/null
  rm -rf "$SPIKES_DIR"
}

# Skips the test, with the reason, where there is no user with login shell $1.
need_shell() {
  if grep -q "^$1 " "$SPIKES_DIR/users"; then return 0; fi
  if [ "$(id -u)" != 0 ]; then skip "not root: only the current user's login shell is tried"; fi
  skip "$1 is not installed"
}

need_root() { [ "$(id -u)" = 0 ] || skip "needs root: $1"; }

# The home of the user behind an alias.
home_of() {
  local shell=$1
  [ "$shell" != host ] || shell=$(spikes_first_shell)
  printf '%s\n' "$SPIKES_DIR/home/$shell"
}

# remote ALIAS COMMAND...: runs it as any ssh would.
remote() {
  local alias=$1
  shift
  ssh -F "$SPIKES_SSH_CONFIG" -T -o BatchMode=yes "$alias" "$@" 3>&-
}

# spikes_wait SECONDS COMMAND...: until it succeeds; fails when the time is over.
spikes_wait() {
  local end=$((SECONDS + $1)) tries=0
  shift
  until "$@"; do
    [ "$SECONDS" -le "$end" ] || return 1
    # Who waits long need not look often: each look forks, and a dozen may wait at once.
    tries=$((tries + 1))
    if [ "$tries" -le 20 ]; then sleep 0.05; else sleep 0.3; fi
  done
}

# Puts a file from stdin, owned by the user, into an alias's home.
put() {
  local home path
  home=$(home_of "$1")
  path=$home/$2
  mkdir -p "${path%/*}"
  cat >"$path"
  chmod "${3:-644}" "$path"
  chown -R --reference="$home" "$home/${2%%/*}"
}

new_id() { printf 's%s\n' "$(head -c 64 /dev/urandom | base64 | tr -dc 'a-z0-9' | head -c 11)"; }

milliseconds() { date +%s%3N; }

# Says what failed, and shows the files that tell more.
fail() {
  printf '%s\n' "$*" >&2
  return 1
}

# expect NAME GOT WANTED
expect() { [ "$2" = "$3" ] || fail "$1: expected [$3], got [$2]"; }

# client VERB...: see client.py.
client() { "$SPIKES_PYTHON" "$SPIKES_SOURCE/client.py" "$@" 3>&-; }
