// What the agent needs to know to run, from flags and the environment.
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type IdentityKey, identityKeys } from "./options.ts";
import { managedPreferences, type Preferences } from "./preferences.ts";
import { defaultStateDir } from "./service/plan.ts";

export interface SetupInput {
  readonly "server-url"?: string | undefined;
  readonly "enroll-secret-file"?: string | undefined;
  readonly "ca-file"?: string | undefined;
  readonly pin?: readonly string[] | undefined;
  readonly "state-dir"?: string | undefined;
  readonly scripts: boolean;
  readonly "sign-requests"?: boolean | undefined;
  readonly "identity-key"?: string | undefined;
}

export interface AgentSetup {
  readonly serverUrl: string;
  readonly enrollSecret: string;
  readonly ca: string | null;
  readonly pins: readonly string[];
  readonly stateDir: string;
  readonly runsScripts: boolean;
  readonly signsRequests: boolean;
  readonly identityKey: IdentityKey;
}

/** Flags that are missing, wrong, or name a file that cannot be read. */
export class SetupError extends Error {
  readonly kind: "usage" | "failed";
  readonly hint: string | undefined;

  constructor(kind: "usage" | "failed", message: string, hint?: string) {
    super(message);
    this.kind = kind;
    this.hint = hint;
  }
}

const usage = (message: string, hint?: string) => new SetupError("usage", message, hint);

const read = (file: string, flag: string): Promise<string> =>
  readFile(file, "utf8").catch((error: Error) => {
    throw new SetupError("failed", `${flag}: ${file} cannot be read: ${error.message}`);
  });

const EXAMPLE = "Example: --server-url https://svc.example.com";

/**
 * Refuses all characters that have a meaning in a script, unit, task or package: each system has its own quotation, and
 * none has to be relied on.
 */
function plainUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw usage("--server-url URL is required", EXAMPLE);
  const { origin, pathname, username, password, search, hash } = new URL(text);
  if (username !== "" || password !== "" || search !== "" || hash !== "")
    throw usage("--server-url: the URL must not contain a user name, a password, a query or a fragment", EXAMPLE);
  if (!/^[A-Za-z0-9._~/-]*$/.test(pathname))
    throw usage("--server-url: the path of the URL may contain only letters, digits and . _ ~ - /", EXAMPLE);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}

const isPlainPath = (path: string): boolean => !/["\p{Cc}\u2028\u2029]/u.test(path);

export async function readSetup(
  flags: SetupInput,
  env: Readonly<Record<string, string | undefined>>,
  preferences: () => Promise<Preferences> = managedPreferences,
): Promise<AgentSetup> {
  const serverFlag = flags["server-url"] ?? env.SVC_SERVER_URL;
  // The secret of one server is not sent to another.
  const managed = serverFlag ? {} : await preferences();
  const serverUrl = plainUrl(serverFlag ?? managed.serverUrl ?? "");
  const stateDir = flags["state-dir"] ?? defaultStateDir();
  if (!isPlainPath(stateDir))
    throw usage("--state-dir: the path must not contain quotation marks, line breaks or other control characters");
  const kind = flags["identity-key"] ?? "rsa";
  const identityKey = identityKeys.find((key) => key === kind);
  if (identityKey === undefined) throw usage(`--identity-key: ${kind} is none of ${identityKeys.join(", ")}`);
  const pins = flags.pin ?? [];
  const bad = pins.find((pin) => !/^[0-9a-f]{64}$/i.test(pin.replaceAll(":", "")));
  if (bad !== undefined) throw usage(`--pin: ${bad} is not a SHA-256 fingerprint (64 hexadecimal digits)`);
  if (pins.length > 0 && !serverUrl.startsWith("https:")) throw usage("--pin needs a server with https");
  const caFile = flags["ca-file"] ?? env.SVC_CA_FILE;
  const secretFile = flags["enroll-secret-file"];
  const secret =
    secretFile === undefined
      ? (env.SVC_ENROLL_SECRET ?? managed.enrollSecret ?? "")
      : await read(secretFile, "--enroll-secret-file");
  if (secret.trim() === "")
    throw usage("--enroll-secret-file FILE is required", "`svc enroll-secrets list` prints the secrets of a server.");
  return {
    serverUrl,
    enrollSecret: secret.trim(),
    ca: caFile ? await read(caFile, "--ca-file") : null,
    pins,
    // Scripts start in another folder.
    stateDir: resolve(stateDir),
    runsScripts: flags.scripts,
    signsRequests: flags["sign-requests"] ?? false,
    identityKey,
  };
}
