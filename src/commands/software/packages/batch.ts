import { packageBatchesApi } from "../../../api/software/package-batches.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { args } from "../../../cli/flags.ts";
import { concludePackages, waitForPackages } from "../../../cli/topics/software/package-batches.ts";
import { timeoutOf, waitFlags } from "../../../cli/wait.ts";

export default class SoftwarePackagesBatch extends ClientCommand {
  static override summary = "Show how far a replacement of packages is; with --wait, until it has ended.";
  static override endpoints = [packageBatchesApi.get];
  static override args = { request: args.required("request uuid, as `svc software packages apply` prints it") };
  static override flags = { ...waitFlags };
  static override examples = ["<%= config.bin %> <%= command.id %> ba7c4000-0000-4000-8000-000000000001 --wait"];

  async run() {
    const { args, flags } = await this.parse(SoftwarePackagesBatch);
    const timeout = timeoutOf(flags);
    if (flags.wait) return concludePackages(this, await waitForPackages(this, args.request, timeout));
    await concludePackages(this, await this.call(packageBatchesApi.get, { params: { request_uuid: args.request } }));
  }
}
