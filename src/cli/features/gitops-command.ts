// Shared by plan, apply and drift: reads the files, fetches the server's state once, and computes the differences.
import { delimiter } from "node:path";
import * as Flags from "@oclif/core/flags";
import { type ConfigurationState, configurationApi } from "../../api/configuration.ts";
import { desiredOf } from "../../gitops/desired/desired.ts";
import type { LargeFile } from "../../gitops/files/large-files.ts";
import { type Problem, renderProblem } from "../../gitops/files/problems.ts";
import { readFiles } from "../../gitops/files/read.ts";
import { kinds } from "../../gitops/kinds.ts";
import type { Change } from "../../gitops/plan/diff.ts";
import { otherTeams, planOf } from "../../gitops/plan/plan.ts";
import { type Paint, planJson, renderMarkdown, renderPlan, titleOf } from "../../gitops/plan/render.ts";
import { printable } from "../../text/printable.ts";
import { isTrue } from "../auth/connection.ts";
import { ClientCommand } from "../client-command.ts";
import { CliError, usage } from "../errors.ts";
import { plural } from "../output/text.ts";

export const filesFlags = {
  file: Flags.string({
    char: "f",
    multiple: true,
    summary: "File with configuration (- is stdin); can be given several times. Env: SVC_APPLY_FILE.",
    helpValue: "FILE",
    helpGroup: "FILES",
  }),
  "delete-other-teams": Flags.boolean({
    summary: "Delete teams that are in no file. Env: SVC_APPLY_DELETE_OTHER_TEAMS.",
    helpGroup: "FILES",
  }),
  "allow-unknown-keys": Flags.boolean({
    summary: "Unknown nested keys are warnings instead of errors. Env: SVC_APPLY_ALLOW_UNKNOWN_KEYS.",
    helpGroup: "FILES",
  }),
};

interface FilesFlags {
  readonly file?: readonly string[] | undefined;
  readonly "delete-other-teams"?: boolean;
  readonly "allow-unknown-keys"?: boolean;
}

export interface Planned {
  readonly changes: readonly Change[];
  readonly state: ConfigurationState;
  readonly secrets: ReadonlyMap<string, string>;
  /** Contents of files by their digests. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Large files by their digests. */
  readonly uploads: ReadonlyMap<string, LargeFile>;
  /** Values of the custom variables that these files name. */
  readonly variables: Readonly<Record<string, string>>;
}

export abstract class GitopsCommand extends ClientCommand {
  /** These endpoints take a dry_run field in the body, which older servers support too. */
  protected override get triesOut(): boolean {
    return false;
  }

  /** Compares the files with the state of the server. */
  protected async planned(flags: FilesFlags): Promise<Planned> {
    const paths = this.#paths(flags);
    const files = await readFiles(paths, {
      environment: this.io.env,
      directory: process.cwd(),
      stdin: paths.includes("-") ? await this.io.readStdin() : null,
      allowUnknownKeys: this.#isOn(flags["allow-unknown-keys"], "SVC_APPLY_ALLOW_UNKNOWN_KEYS"),
    });
    // Errors in the files themselves are reported without a call to the server.
    if (files.problems.failed) this.#refuse(files.problems.all);
    const state = await this.state(files.secrets, files.hosts);
    const deleteOtherTeams = this.#isOn(flags["delete-other-teams"], "SVC_APPLY_DELETE_OTHER_TEAMS");
    const wanted = desiredOf(files, state, { deleteOtherTeams });
    if (wanted.problems.failed) this.#refuse(wanted.problems.all);
    this.#warnOf(wanted.problems.all);
    const others = otherTeams(state.things, wanted.things);
    const isWhole = files.scopes.some(({ kind }) => kind === "global");
    if (isWhole && others.length > 0 && !deleteOtherTeams)
      this.remark(
        `${plural(others.length, "team")} in no file, kept unchanged: ${others.slice(0, 10).join(", ")}${others.length > 10 ? ", ..." : ""}`,
      );
    const changes = planOf(state, wanted);
    const unseen = changes.filter(isUnseen);
    for (const one of unseen) this.remark(`${titleOf(one)}: your role does not see them, so they are kept unchanged`);
    return {
      changes: changes.filter((one) => !unseen.includes(one)),
      state,
      secrets: files.secrets,
      contents: files.contents,
      uploads: files.uploads,
      variables: Object.fromEntries(files.variables),
    };
  }

  /** The current state on the server of everything that files can describe. */
  protected async state(
    secrets: ReadonlyMap<string, string> = new Map(),
    hosts: readonly (string | number)[] = [],
    files = false,
  ): Promise<ConfigurationState> {
    const progress = this.progress("reading the server's state ...");
    const body = { secrets: Object.fromEntries(secrets), hosts: [...hosts], ...(files ? { files } : {}) };
    const state = await this.call(configurationApi.state, { body }).finally(() => progress.done());
    const unknown = [...new Set(state.things.map(({ kind }) => kind))].filter((kind) => !Object.hasOwn(kinds, kind));
    if (unknown.length > 0)
      this.remark(
        `this version of svc does not know these kinds of objects, which the server has: ${unknown.join(", ")}. They are left out and kept unchanged: update svc`,
      );
    return state;
  }

  /** Prints the plan to stdout, as text, Markdown or structured output. */
  protected async printChanges(changes: readonly Change[], markdown = false): Promise<void> {
    if (markdown) await this.write(renderMarkdown(changes));
    else if (!this.structured) await this.write(renderPlan(changes, this.planPaint));
    else if (this.format === "json" || this.format === "yaml") await this.printOne(planJson(changes));
    else await this.printList(planJson(changes).changes, { columns: ["action", "kind", "team", "name", "fields"] });
  }

  /** Prints a warning or note about the run. */
  protected remark(text: string): void {
    this.note(`${this.paint(33, "[!]")} ${printable(text)}`);
  }

  protected get planPaint(): Paint {
    const paint = (code: number) => (text: string) => this.paint(code, text, "stdout");
    return { added: paint(32), changed: paint(33), removed: paint(31), faint: paint(2) };
  }

  protected isDryRun(flag: boolean | undefined): boolean {
    return this.#isOn(flag, "SVC_APPLY_DRY_RUN");
  }

  #isOn(flag: boolean | undefined, name: string): boolean {
    return flag ?? isTrue(this.io.env[name]);
  }

  #paths({ file }: FilesFlags): string[] {
    if (file !== undefined && file.length > 0) return [...file];
    const named = (this.io.env.SVC_APPLY_FILE ?? "")
      .split(new RegExp(`[\n${delimiter}]`))
      .filter((path) => path !== "");
    if (named.length === 0)
      throw usage("no files are given", "Name the files: -f default.yml -f teams/*.yml, or in SVC_APPLY_FILE.");
    return named;
  }

  #warnOf(problems: readonly Problem[]): void {
    for (const problem of problems) if (problem.severity === "warning") this.remark(renderProblem(problem));
  }

  /**
   * Reports all problems of all files at once: in the error for programs, otherwise one per line in a format that
   * editors can jump to.
   */
  #refuse(problems: readonly Problem[]): never {
    this.#warnOf(problems);
    const errors = problems.filter(({ severity }) => severity === "error").sort(byPlace);
    const what = `${plural(errors.length, "error")} in the files`;
    if (this.format === "json")
      throw new CliError(
        "failed",
        what,
        undefined,
        errors.map(({ file, line, column, message }) => ({ name: `${file}:${line}:${column}`, reason: message })),
      );
    for (const problem of errors) this.note(printable(renderProblem(problem)));
    throw new CliError("failed", what, "Nothing was changed.");
  }
}

/** Every scope has enroll secrets. A caller whose state contains none may not write them. */
const isUnseen = ({ kind, action }: Change): boolean => kind === "enroll_secrets" && action === "create";

const byPlace = (a: Problem, b: Problem): number =>
  (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column;
