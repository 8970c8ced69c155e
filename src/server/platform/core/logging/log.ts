import pino, { type Logger } from "pino";
import { prettyFactory } from "pino-pretty";
import { stderrSink } from "./log-sink.ts";

// Values under these names are secrets and are redacted in every log line.
const secretPaths = [
  "password",
  "new_password",
  "old_password",
  "token",
  "secret",
  "secrets",
  "node_key",
  "enroll_secret",
  "authorization",
  "api_token",
  "challenge",
  "client_secret",
];

/** Logs JSON lines to stderr; readable text on a terminal unless another format is chosen. Logging never blocks. */
export function createLog(options: { level: string; format: "auto" | "json" | "pretty" }): Logger {
  const redact = { paths: secretPaths.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[secret]" };
  const settings = { level: options.level, redact, timestamp: pino.stdTimeFunctions.isoTime };
  const colored = options.format === "pretty" || (options.format === "auto" && process.stderr.isTTY);
  const sink = stderrSink();
  if (!colored) return pino(settings, sink);
  const render = prettyFactory({ ignore: "pid,hostname", colorize: process.stderr.isTTY });
  return pino(settings, { write: (line: string) => sink.write(render(line) ?? line) });
}
