// Typing that is not shown. A terminal must never be left that way, so a signal that ends or stops
// this process puts it back first, which a Swift handler could not do (signal-safety(7)).
#pragma once

/// From now on what is typed at the terminal `descriptor` is not shown, and what was typed before is
/// dropped. When a signal has put the terminal back for good, or for as long as the process was stopped
/// (SIGTSTP), its number goes to `wake` as one byte. One terminal at a time. Returns 0, or -1 with
/// errno.
int pocket_hide_typing(int descriptor, int wake);
/// Puts the terminal and the signals' handlers back. Harmless when nothing is hidden.
void pocket_show_typing(void);
