// What `svc agent run` and `svc agent install` have in common.
import * as Flags from "@oclif/core/flags";
import { identityKeys } from "../../../agent/options.ts";
import { type AgentSetup, readSetup, SetupError, type SetupInput } from "../../../agent/setup.ts";
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
  "sign-requests": Flags.boolean({
    summary: "Get a certificate for this machine, and sign requests with it: the host then accepts no others.",
  }),
  "identity-key": Flags.string({
    summary: "Kind of the certificate's key, with --sign-requests. Servers before this version accept RSA only.",
    options: [...identityKeys],
    default: "rsa",
  }),
  scripts: Flags.boolean({ summary: "Run scripts of administrators.", allowNo: true, default: true }),
};

/** What is missing or wrong is an error of the command line. */
export async function agentSetup(
  flags: SetupInput,
  env: Readonly<Record<string, string | undefined>>,
): Promise<AgentSetup> {
  return asCliError(() => readSetup(flags, env));
}

export async function asCliError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    throw (error.kind === "usage" ? usage : failed)(error.message, error.hint);
  }
}
