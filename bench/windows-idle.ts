// The cost of a session of a Windows device for which nothing waits (two messages), compared with a bare node:http server
// that parses the same XML. `npm run bench -- windows-idle [lowdb|postgres]`
import { fileURLToPath } from "node:url";
import type { IdleReady } from "./support/apple-idle-ready.ts";
import { compare, Side } from "./support/side.ts";

const script = fileURLToPath(new URL("./support/windows-idle-server.ts", import.meta.url));

export async function run(args: readonly string[]): Promise<void> {
  for (const engine of ["lowdb", "postgres"]) {
    if (args.length > 0 && !args.includes(engine)) continue;
    const own = await Side.start<IdleReady>(script, [engine]);
    const bare = await Side.start<IdleReady>(script, ["bare"]);
    try {
      await compare(engine, { own, bare }, own.ready.requests.map(Buffer.from));
    } finally {
      own.stop();
      bare.stop();
    }
  }
}
