import { packageBatchesApi } from "../../../api/software/package-batches.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { usage } from "../../../cli/errors.ts";
import { readValue } from "../../../cli/files/input.ts";
import { dryRunFlag, inputFlag, isNoTeam, ofTeam, yesFlag } from "../../../cli/flags.ts";
import { concludePackages, waitForPackages } from "../../../cli/topics/software/package-batches.ts";
import { packageTeamFlag } from "../../../cli/topics/software/packages.ts";
import { timeoutOf, waitFlags } from "../../../cli/wait.ts";
import { plural } from "../../../text/plural.ts";

export default class SoftwarePackagesApply extends ClientCommand {
  static override summary = "Replace the packages that a team offers with those of a file.";
  static override description =
    "The file is a list in YAML or JSON: each item has a slug of a maintained app, a url that the server downloads, or " +
    "the hash_sha256 of a package that is stored already, and the fields that `svc software packages update` can set. " +
    "The server downloads all files before it changes anything. Packages that are not in the file are no longer " +
    "offered; hosts keep them. With --dry-run, the server downloads and checks everything, but changes no package.";
  static override destructive = true;
  static override endpoints = [packageBatchesApi.start, packageBatchesApi.get];
  static override flags = { ...packageTeamFlag, ...inputFlag, ...waitFlags, ...yesFlag, ...dryRunFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --team Workstations --input packages.yml --yes --wait",
    "<%= config.bin %> <%= command.id %> --input packages.yml --dry-run",
  ];

  #isDryRun = false;

  /** The server's own dry run goes on after the reply, so the requests here are ordinary ones. */
  override get triesOut(): boolean {
    return false;
  }

  async run() {
    const { flags } = await this.parse(SoftwarePackagesApply);
    const timeout = timeoutOf(flags);
    this.#isDryRun = flags["dry-run"] === true;
    if (flags.input === undefined) throw usage("no file is given", "Give it with --input.");
    const input = await readValue(this.io, flags.input);
    const list = Array.isArray(input) ? input : (input as { packages?: unknown } | null)?.packages;
    if (!Array.isArray(list)) throw usage(`${flags.input} is not a list of packages`);
    const of = ofTeam(flags.team);
    const team = await this.#teamName(flags.team);
    if (!this.#isDryRun) await this.confirm(`Replace the packages of ${of} with ${plural(list.length, "package")}?`);
    const query = { ...team, ...(this.#isDryRun ? { dry_run: true } : {}) };
    const body = { software: { packages: list as [] } };
    const { request_uuid } = await this.call(packageBatchesApi.start, { query, body });
    // A dry run that nobody waits for is of no use.
    if (flags.wait || this.#isDryRun) return concludePackages(this, await waitForPackages(this, request_uuid, timeout));
    await this.report(`the server replaces the packages of ${of}: svc software packages batch ${request_uuid} --wait`, {
      request_uuid,
    });
  }

  async #teamName(text: string | undefined): Promise<{ team_name?: string }> {
    return text === undefined || isNoTeam(text) ? {} : { team_name: (await this.team(text)).name };
  }
}
