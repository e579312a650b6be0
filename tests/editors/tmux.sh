# Drives an editor in a terminal of 120 x 30 characters, for the sessions of .ci/editors.

failed=0
# say RESULT TEXT: reports a check.
say() {
  if [[ $1 == 0 ]]; then printf 'ok      %s\n' "$2"; else printf 'FAILED  %s\n' "$2"; failed=$((failed + 1)); fi
}

# begin COMMAND…: starts it in a new terminal.
begin() { tmux -L flashlab -f /dev/null new-session -d -x 120 -y 30 "$*"; }
# keys KEY…: types them. After Escape it pauses, as an editor would take Escape and a letter for Alt.
keys() {
  local key
  for key in "$@"; do
    tmux -L flashlab send-keys "$key"
    if [[ $key == Escape ]]; then sleep 0.3; fi
  done
}
screen() { tmux -L flashlab capture-pane -p; }

# wait_for TEXT WHAT: waits until the screen shows the text.
wait_for() {
  local try
  for try in {1..200}; do
    if screen | grep -qF -- "$1"; then say 0 "$2"; return 0; fi
    sleep 0.1
  done
  say 1 "$2"
  screen
}

# wait_until_gone TEXT WHAT
wait_until_gone() {
  local try
  for try in {1..200}; do
    if ! screen | grep -qF -- "$1"; then say 0 "$2"; return 0; fi
    sleep 0.1
  done
  say 1 "$2"
  screen
}

# picture NAME: keeps the screen with its colours, if pictures are wanted.
picture() { if [[ -d /pictures ]]; then tmux -L flashlab capture-pane -p -e >"/pictures/$1.ansi"; fi; }

# finish EDITOR: ends the terminal, and the session with its result.
finish() {
  tmux -L flashlab kill-server 2>/dev/null || true
  if ((failed)); then printf '%s: %d failed\n' "$1" "$failed"; exit 1; fi
  printf '%s: all passed\n' "$1"
}
