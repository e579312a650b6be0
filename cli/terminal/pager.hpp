// Shows output that is longer than the window through a pager.
#pragma once

namespace flashlab::cli {

/// From here on, holds std::cout back until it is longer than the terminal's window, and then starts
/// the pager: $PAGER, otherwise `less -R`. Does nothing if standard output is not a terminal, TERM is
/// dumb, or there is no pager. A flush ends the holding back: who flushes wants the text to be seen
/// now, because it asks a question or shows progress. May be called several times.
void page_output();

/// Writes what was held back, or waits until the user has left the pager. Must be called before the
/// command ends or prints an error.
void end_paging();

}  // namespace flashlab::cli
