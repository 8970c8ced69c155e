// The cost of an Apple device that asks for commands when there are none, compared with a bare node:http server that
// verifies the same signature. `npm run bench -- apple-idle [lowdb|postgres]`
import { compareIdle } from "./support/idle.ts";

export const run = (args: readonly string[]): Promise<void> =>
  compareIdle(new URL("./support/apple-idle-server.ts", import.meta.url), args);
