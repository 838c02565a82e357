# What both packages do at their installation and removal. Each step also runs in a folder that is no running system.
units="fabdeck-guard.service fabdeck-guard.timer fabdeck-watch.service"

has_systemd() { command -v systemctl >/dev/null 2>&1; }
is_running() { [ -d /run/systemd/system ]; }

# After the files are there. $1: yes for the first installation.
after_install() {
  if command -v systemd-sysusers >/dev/null 2>&1; then systemd-sysusers fabdeck.conf; fi
  has_systemd || return 0
  if [ "$1" = yes ]; then
    # shellcheck disable=SC2086
    systemctl --no-reload preset $units >/dev/null 2>&1 || true
  fi
  is_running || return 0
  systemctl daemon-reload || true
  if [ "$1" = yes ]; then
    systemctl start fabdeck-guard.timer || true
  else
    systemctl try-restart fabdeck-watch.service || true
  fi
}

# Before the files go for good. Without the program a pending change could not be rolled back any more.
before_removal() {
  if [ -d /var/lib/fabdeck/changes ] &&
    /usr/bin/fabdeck changes --format prometheus 2>/dev/null | grep -Eq '^fabdeck_changes_(pending|overdue|incomplete) [1-9]'; then
    echo "fabdeck: a change of a fabric is pending; confirm it or roll it back first: fabdeck changes" >&2
    return 1
  fi
  has_systemd || return 0
  if is_running; then
    systemctl stop fabdeck-watch.service fabdeck-guard.timer || true
  fi
  # shellcheck disable=SC2086
  systemctl --no-reload disable $units >/dev/null 2>&1 || true
}

after_removal() {
  # The folder of the guards' sockets; guards of other state folders may have theirs in it.
  if [ -d /run/fabdeck ]; then rmdir /run/fabdeck 2>/dev/null || true; fi
  if has_systemd && is_running; then systemctl daemon-reload || true; fi
}

# Configuration, journals of changes and the user.
purge() {
  rm -rf /etc/fabdeck /var/lib/fabdeck
  if getent passwd fabdeck >/dev/null 2>&1; then userdel fabdeck >/dev/null 2>&1 || true; fi
  if getent group fabdeck >/dev/null 2>&1; then groupdel fabdeck >/dev/null 2>&1 || true; fi
}
