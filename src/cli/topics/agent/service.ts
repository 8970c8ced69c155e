// Commands about the agent as a service of this machine.

import * as Flags from "@oclif/core/flags";
import { CliError, failed } from "../../errors.ts";

export const rootFlag = {
  root: Flags.string({
    summary: "Folder to take for the root of the file system, such as of an image. No service is started or stopped.",
    helpValue: "DIR",
  }),
};

/** What the system's own programs refuse is an error with their reason. */
export async function asRoot<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof CliError) throw error;
    const isDenied = "code" in error && (error.code === "EACCES" || error.code === "EPERM");
    throw failed(error.message, isDenied ? "Run the command as root, or as an administrator on Windows." : undefined);
  }
}
