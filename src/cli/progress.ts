import { type Io, isDumb } from "./io.ts";

export interface Progress {
  update(text: string): void;
  done(): void;
}

/** One line on stderr that rewrites itself; nothing where no terminal shows it. */
export function startProgress(io: Io, text: string): Progress {
  if (!io.tty.stderr || isDumb(io)) return { update() {}, done() {} };
  let shown = 0;
  const update = (line: string) => {
    // Ten a second are enough to look alive.
    const now = io.now().getTime();
    if (shown !== 0 && now - shown < 100) return;
    shown = now;
    io.err(`\r\u001b[K${line.slice(0, Math.max(20, io.columns - 1))}`);
  };
  update(text);
  return { update, done: () => io.err("\r\u001b[K") };
}
