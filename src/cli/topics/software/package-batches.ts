// What the commands that replace all packages of a team share.

import { PackageBatch, packageBatchesApi } from "../../../api/software/package-batches.ts";
import { plural } from "../../../text/plural.ts";
import type { ClientCommand } from "../../client-command.ts";
import { failed } from "../../errors.ts";
import type { View } from "../../output/output.ts";
import { waitFor } from "../../wait.ts";

const view: View = {
  schema: () => PackageBatch,
  columns: [
    { key: "status" },
    { key: "progress", header: "ready" },
    { key: "total", header: "packages" },
    { key: "message" },
  ],
};

/** Shows the progress of a replacement until it has ended. */
export async function waitForPackages(
  command: ClientCommand,
  request_uuid: string,
  timeout: string,
): Promise<PackageBatch> {
  const progress = command.progress("waiting for the packages ...");
  const get = () => command.call(packageBatchesApi.get, { params: { request_uuid } });
  let batch = await get();
  const done = async () => {
    batch = await get();
    progress.update(`${batch.progress} of ${plural(batch.total, "package")} ready ...`);
    return batch.status !== "processing";
  };
  const going = () => ({
    what: `the server is still downloading: ${batch.progress} of ${plural(batch.total, "package")} are ready`,
    hint: `\`svc software packages batch ${request_uuid}\` shows it.`,
  });
  await waitFor(command.io, command.stop.signal, { timeout, done, going }).finally(progress.done);
  return batch;
}

/** Prints the replacement; an error if it has failed. */
export async function concludePackages(command: ClientCommand, batch: PackageBatch): Promise<void> {
  await command.printOne(batch, view);
  if (batch.status === "failed") throw failed(`no package was changed: ${batch.message}`);
}
