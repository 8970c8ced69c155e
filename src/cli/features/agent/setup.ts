// What `svc agent run` and `svc agent install` have in common.
import { readFile } from "node:fs/promises";
import * as Flags from "@oclif/core/flags";
import { defaultStateDir } from "../../../agent/service/plan.ts";
import { failed, usage } from "../../errors.ts";

export const agentSetupFlags = {
  "server-url": Flags.string({ summary: "URL of the server. Env: SVC_SERVER_URL.", helpValue: "URL" }),
  "enroll-secret-file": Flags.string({
    summary: "File with the enroll secret. Env: SVC_ENROLL_SECRET, the secret itself.",
    helpValue: "FILE",
  }),
  "ca-file": Flags.string({
    summary: "File with certificates to trust instead of the system's (PEM). Env: SVC_CA_FILE.",
    helpValue: "FILE",
  }),
  pin: Flags.string({
    summary:
      "SHA-256 fingerprint that the server's certificate, or one that signed it, must have. Several allow a change.",
    helpValue: "SHA256",
    multiple: true,
  }),
  "state-dir": Flags.string({
    summary: "Folder for the agent's keys and its journal of scripts. Default: /var/lib/svc-agent.",
    helpValue: "DIR",
  }),
  scripts: Flags.boolean({ summary: "Run scripts of administrators.", allowNo: true, default: true }),
};

interface Given {
  readonly "server-url"?: string | undefined;
  readonly "enroll-secret-file"?: string | undefined;
  readonly "ca-file"?: string | undefined;
  readonly pin?: readonly string[] | undefined;
  readonly "state-dir"?: string | undefined;
  readonly scripts: boolean;
}

export interface AgentSetup {
  readonly serverUrl: string;
  readonly enrollSecret: string;
  readonly ca: string | null;
  readonly pins: readonly string[];
  readonly stateDir: string;
  readonly runsScripts: boolean;
}

const read = (file: string, flag: string): Promise<string> =>
  readFile(file, "utf8").catch((error: Error) => {
    throw failed(`${flag}: ${file} cannot be read: ${error.message}`);
  });

export async function agentSetup(flags: Given, env: Readonly<Record<string, string | undefined>>): Promise<AgentSetup> {
  const serverUrl = flags["server-url"] ?? env.SVC_SERVER_URL;
  if (!serverUrl || !/^https?:$/.test(URL.canParse(serverUrl) ? new URL(serverUrl).protocol : ""))
    throw usage("--server-url URL is required", "Example: --server-url https://svc.example.com");
  const pins = flags.pin ?? [];
  const bad = pins.find((pin) => !/^[0-9a-f]{64}$/i.test(pin.replaceAll(":", "")));
  if (bad !== undefined) throw usage(`--pin: ${bad} is not a SHA-256 fingerprint (64 hexadecimal digits)`);
  if (pins.length > 0 && !serverUrl.startsWith("https:")) throw usage("--pin needs a server with https");
  const caFile = flags["ca-file"] ?? env.SVC_CA_FILE;
  const secretFile = flags["enroll-secret-file"];
  const secret =
    secretFile === undefined ? (env.SVC_ENROLL_SECRET ?? "") : await read(secretFile, "--enroll-secret-file");
  if (secret.trim() === "")
    throw usage("--enroll-secret-file FILE is required", "`svc enroll-secrets list` prints the secrets of a server.");
  return {
    serverUrl: serverUrl.replace(/\/+$/, ""),
    enrollSecret: secret.trim(),
    ca: caFile ? await read(caFile, "--ca-file") : null,
    pins,
    stateDir: flags["state-dir"] ?? defaultStateDir(),
    runsScripts: flags.scripts,
  };
}
