import * as Flags from "@oclif/core/flags";
import { CHANGES_MAX, configurationApi } from "../api/edge/configuration.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { CliError, failed } from "../cli/errors.ts";
import { writePrivate } from "../cli/files/private-file.ts";
import { Configuration, type PlanResult } from "../cli/topics/configuration.ts";
import { filesFlags } from "../cli/topics/configuration-files.ts";
import { DEFAULT_MAX_DELETES, guardRemovals } from "../gitops/plan/guard.ts";
import { filesOf, pinsOf, secretsOf, uploadsOf } from "../gitops/plan/plan.ts";
import { savedPlanText } from "../gitops/plan/saved-plan.ts";

export default class Plan extends ClientCommand {
  static override summary = "Show what applying configuration files would add, change and remove.";
  static override description =
    "Nothing is changed. With --out the plan is saved to a file for `svc apply`, which makes exactly these changes, or none " +
    "if anything that the plan read has changed in the meantime. The file contains the secrets to be set. " +
    "`svc plans create` keeps a plan on the server instead, and says which hosts it affects.";
  static override endpoints = [configurationApi.state];
  static override flags = {
    ...filesFlags,
    markdown: Flags.boolean({ summary: "Print Markdown for a pull request.", exclusive: ["output"] }),
    out: Flags.string({ summary: "Save the plan to this file (- is stdout).", helpValue: "FILE" }),
    "exit-code": Flags.boolean({ summary: "Exit with code 9 if there are changes." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> -f default.yml",
    "<%= config.bin %> <%= command.id %> -f default.yml --markdown --out plan.json",
  ];

  readonly #configuration = new Configuration(this);

  async run() {
    const { flags } = await this.parse(Plan);
    const planned = await this.#configuration.planned(flags);
    const { changes, state } = planned;
    const tooMany = guardRemovals(changes, state.things, DEFAULT_MAX_DELETES);
    if (flags.out === "-") await this.write(await this.#saved(planned));
    else await this.#configuration.printChanges(changes, planned.secrets, flags.markdown);
    if (tooMany !== null) this.#configuration.remark(`${tooMany}: applying it needs --allow-delete`);
    if (flags.out !== undefined && flags.out !== "-") {
      await writePrivate(flags.out, await this.#saved(planned));
      this.#configuration.remark(
        `${flags.out} contains the plan and the secrets that it sets: keep it private, apply it, then delete it`,
      );
    }
    if (flags["exit-code"] && changes.length > 0) throw new CliError("changes", "");
  }

  async #saved({ changes, state, secrets, contents, uploads, masks }: PlanResult): Promise<string> {
    const { serverUrl } = await this.connection();
    const pins = pinsOf(state.things, changes, true);
    if (pins.length > CHANGES_MAX)
      throw failed(
        `a saved plan can pin at most ${CHANGES_MAX} objects, but this one has ${pins.length}`,
        "`svc apply -f` pins only the objects that it changes.",
      );
    return savedPlanText({
      createdAt: this.io.now().toISOString(),
      serverUrl,
      changes,
      pins,
      secrets: secretsOf(changes, secrets),
      files: filesOf(changes, contents),
      variables: {},
      masks: masks.entries(),
      uploads: uploadsOf(changes, uploads).map(({ origin, sha256 }) => ({ origin, sha256 })),
    });
  }
}
