// A server in its own process, from the sources: its argument is the settings as JSON, and it prints its address on
// stdout.
import { pino } from "pino";
import { startServer } from "../../../src/server/main.ts";
import { Settings } from "../../../src/server/platform/core/settings/settings.ts";

const settings = Settings.parse(JSON.parse(process.argv[2] ?? "{}"));
const { url } = await startServer(settings, pino({ level: "silent" }));
process.stdout.write(`${url}\n`);
