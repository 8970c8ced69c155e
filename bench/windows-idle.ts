// The cost of a session of a Windows device for which nothing waits (two messages), compared with a bare node:http server
// that parses the same XML. `npm run bench -- windows-idle [lowdb|postgres]`
import { compareIdle } from "./support/idle.ts";

export const run = (args: readonly string[]): Promise<void> =>
  compareIdle(new URL("./support/windows-idle-server.ts", import.meta.url), args);
