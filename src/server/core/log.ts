import pino, { type Logger } from "pino";
import pretty from "pino-pretty";

// Whatever ends up under these names is a secret, wherever it is logged from.
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

/** JSON lines on stderr; pretty on a terminal unless told otherwise. */
export function createLog(options: { level: string; format: "auto" | "json" | "pretty" }): Logger {
  const redact = { paths: secretPaths.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[secret]" };
  const settings = { level: options.level, redact, timestamp: pino.stdTimeFunctions.isoTime };
  const colored = options.format === "pretty" || (options.format === "auto" && process.stderr.isTTY);
  if (colored)
    return pino(
      settings,
      pretty({ destination: 2, sync: true, ignore: "pid,hostname", colorize: process.stderr.isTTY }),
    );
  return pino(settings, pino.destination({ dest: 2, sync: false }));
}
