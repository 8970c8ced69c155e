import { isDumb } from "../io.ts";
import type { Terminal } from "./terminal.ts";

export interface Progress {
  update(text: string): void;
  done(): void;
}

/** Shows a status line on stderr that is updated in place; does nothing if stderr is not a terminal. */
export function startProgress(io: Terminal, text: string): Progress {
  if (!io.tty.stderr || isDumb(io)) return { update() {}, done() {} };
  let shown = 0;
  const update = (line: string) => {
    // At most ten updates a second.
    const now = io.now().getTime();
    if (shown !== 0 && now - shown < 100) return;
    shown = now;
    io.status(line);
  };
  update(text);
  return { update, done: () => io.status(null) };
}
