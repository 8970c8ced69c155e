// A server as a process of its own, from the sources: its settings as JSON come as argument, its address goes to stdout.
import { pino } from "pino";
import { Settings } from "../../../src/server/core/settings.ts";
import { startServer } from "../../../src/server/main.ts";

const settings = Settings.parse(JSON.parse(process.argv[2] ?? "{}"));
const { url } = await startServer(settings, pino({ level: "silent" }));
process.stdout.write(`${url}\n`);
