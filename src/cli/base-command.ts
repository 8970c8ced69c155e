// Shared by all commands: output formats, prompts, confirmation and messages. Data goes to stdout, everything else to
// stderr.
import type { Config, Interfaces } from "@oclif/core";
import { Command } from "@oclif/core/command";
import type { AnyEndpoint } from "../api/endpoint.ts";
import { printable } from "../text/printable.ts";
import { CliError, usage } from "./errors.ts";
import { generalFlags, outputFlags } from "./flags.ts";
import { ioOf, isDumb } from "./io.ts";
import { LiveTable } from "./output/live-table.ts";
import {
  type Format,
  formats,
  type OutputOptions,
  type Pages,
  renderOne,
  selectOf,
  type View,
  writeList,
} from "./output/output.ts";
import { type Progress, startProgress } from "./output/progress.ts";
import { type Sort, sortOf } from "./output/sort.ts";
import { style, type Terminal } from "./output/terminal.ts";
import { age, ago } from "./output/text.ts";

type Flags = Record<string, unknown>;

const MAX_LISTED_TARGETS = 100;

const listFlag = (value: unknown): string[] | undefined =>
  typeof value === "string"
    ? value
        .split(",")
        .map((part) => part.trim())
        .filter((part) => part !== "")
    : undefined;

export abstract class BaseCommand extends Command {
  static override enableJsonFlag = true;
  static override baseFlags: Interfaces.FlagInput = { ...generalFlags, ...outputFlags };
  /** The endpoints that the command calls on behalf of its user. The commands together must cover all endpoints. */
  static endpoints: readonly AnyEndpoint[] = [];
  /**
   * Whether the command deletes or revokes something. Such a command asks for confirmation, and its help is marked.
   */
  static destructive = false;

  readonly io: Terminal;
  /** The parsed flags, for the code that all commands share. */
  common: Flags = {};
  /** Whether the rows arrive in the order of --sort. */
  isSorted = false;
  readonly #later: string[] = [];

  constructor(argv: string[], config: Config) {
    super(argv, config);
    this.io = ioOf(config);
  }

  /** Does what oclif's `run` does, without loading the whole configuration a second time. */
  static async execute(
    this: new (
      argv: string[],
      config: Config,
    ) => BaseCommand,
    argv: string[],
    config: Config,
  ): Promise<unknown> {
    return new this(argv, config)._run();
  }

  // --output selects the format; oclif's own JSON output is not used.
  override jsonEnabled(): boolean {
    return false;
  }

  protected override async catch(error: Interfaces.CommandError): Promise<void> {
    throw error;
  }

  protected override async parse<
    F extends Interfaces.OutputFlags<F>,
    B extends Interfaces.OutputFlags<B>,
    A extends Interfaces.OutputArgs<A>,
  >(options?: Interfaces.Input<F, B, A>, argv?: string[]): Promise<Interfaces.ParserOutput<F, B, A>> {
    // By default oclif reads a missing argument from stdin, and blocks until there is input.
    for (const arg of Object.values((options ?? this.ctor).args ?? {})) Object.assign(arg, { ignoreStdin: true });
    const parsed = await super.parse<F, B, A>(options, argv);
    this.common = { ...(parsed.flags as Flags) };
    if (listFlag(this.common.fields)?.length === 0)
      throw usage("--fields: no field is given", "Example: --fields id,name.");
    // An invalid jq expression must be reported before the command prompts or changes anything.
    if (this.common.jq !== undefined) await selectOf(this.#outputOptions);
    return parsed;
  }

  protected override async finally(error: Error | undefined): Promise<void> {
    this.noteLater();
    await super.finally(error);
  }

  override log(message = ""): void {
    this.io.out(`${message}\n`);
  }

  /** Replaces what no message may contain, such as secrets that the command has read. */
  hide = (text: string): string => text;

  /** Prints a message for people to stderr. */
  note(message: string): void {
    this.io.err(`${this.hide(message)}\n`);
  }

  override warn(input: string | Error): string | Error {
    this.io.err(`${this.paint(33, "Warning:")} ${input instanceof Error ? input.message : input}\n`);
    return input;
  }

  get format(): Format {
    if (this.common.json === true) return "json";
    const { output, jq } = this.common;
    // A jq expression applies to JSON, so --jq without -o implies JSON output.
    const text = typeof output === "string" ? output : typeof jq === "string" ? "json" : this.io.env.SVC_OUTPUT;
    if (text === undefined || text === "") return "table";
    const format = formats.find((candidate) => candidate === text);
    if (!format) throw usage(`SVC_OUTPUT: ${text} is not an output format`, `Formats: ${formats.join(", ")}`);
    return format;
  }

  /** The order that --sort requests, unless the server has sorted the rows. */
  get sort(): Sort | null {
    const { sort } = this.common;
    return typeof sort === "string" && !this.isSorted ? sortOf(sort) : null;
  }

  /** Whether the output is meant for a program. */
  get structured(): boolean {
    return this.format !== "table" || this.common.template !== undefined;
  }

  get interactive(): boolean {
    const { env, tty } = this.io;
    const off = this.common["no-input"] === true || (env.SVC_NO_INPUT ?? "") !== "" || (env.CI ?? "") !== "";
    return tty.stdin && tty.stderr && !off;
  }

  /** Whether times are shown as relative ("3 minutes ago"); only on a terminal. */
  get relativeTimes(): boolean {
    return this.io.tty.stdout && this.format === "table";
  }

  paint(code: number, text: string, stream: "stdout" | "stderr" = "stderr"): string {
    const { env, tty } = this.io;
    const off = this.common["no-color"] === true || this.argv.includes("--no-color") || (env.NO_COLOR ?? "") !== "";
    return !off && tty[stream] && !isDumb(this.io) ? style(code, text) : text;
  }

  /** Lets an interrupt that has arrived end the command: while jq runs, nothing else does. */
  async beforeJq(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
  }

  get #outputOptions(): OutputOptions & Required<Pick<OutputOptions, "leftOut" | "tooWide">> {
    const fields = listFlag(this.common.fields);
    return {
      format: this.format,
      ...(fields === undefined ? {} : { fields }),
      ...(typeof this.common.jq === "string" ? { jq: this.common.jq } : {}),
      ...(typeof this.common.template === "string" ? { template: this.common.template } : {}),
      ...(this.sort === null ? {} : { sort: this.sort }),
      header: this.common["no-header"] !== true,
      bold: (text) => this.paint(1, text, "stdout"),
      colour: (code, text) => this.paint(code, text, "stdout"),
      width: this.io.tty.stdout ? this.io.columns : null,
      ...(this.relativeTimes
        ? { time: (iso: string) => ago(iso, this.io.now()), age: (iso: string) => age(iso, this.io.now()) }
        : {}),
      beforeJq: () => this.beforeJq(),
      leftOut: (headers: readonly string[]) =>
        this.remarkOfList(
          `columns that do not fit: ${headers.join(", ")}. Widen the terminal, or choose columns with --fields`,
        ),
      tooWide: () =>
        this.remarkOfList(
          "the rows are wider than the terminal; `| less -S` scrolls them sideways, `-o yaml` prints a line per field",
        ),
    };
  }

  /** Prints rows, or pages of rows as they arrive. */
  async printList(
    rows: readonly unknown[] | AsyncIterable<readonly unknown[]>,
    view: View,
    empty = "none found",
  ): Promise<void> {
    const pages: Pages = Symbol.asyncIterator in rows ? rows : [rows];
    const count = await writeList(pages, view, this.#outputOptions, (text) => this.write(text));
    if (count === 0 && !this.structured) this.note(empty);
    this.noteLater();
  }

  /**
   * Queues a message about a list until the list is printed, because it would otherwise appear in the middle of it.
   */
  remarkOfList(message: string): void {
    this.#later.push(message);
  }

  noteLater(): void {
    for (const message of this.#later.splice(0)) this.note(message);
  }

  /** A table that prints its rows as they arrive. */
  liveTable(): LiveTable {
    const { header, bold, tooWide } = this.#outputOptions;
    return new LiveTable({ out: (text) => this.io.out(text), header, bold, width: this.io.columns, tooWide });
  }

  /** Renders a list to a string, for output that is repainted (--watch). */
  async listText(rows: readonly unknown[], view: View): Promise<string> {
    let text = "";
    const options = { ...this.#outputOptions, leftOut: () => {}, tooWide: () => {} };
    await writeList([rows], view, options, async (part) => {
      text += part;
    });
    return text;
  }

  /** Writes to stdout and waits while the reader is slow, so that output does not pile up in memory. */
  async write(text: string): Promise<void> {
    await this.io.outText(text);
  }

  async printOne(object: unknown, view: Partial<View> = {}): Promise<void> {
    this.io.out(await renderOne(object, view, this.#outputOptions));
  }

  /** Prints rows, but for people a single one like `printOne`: the texts of several lines that it has keep them. */
  async printListOrOne(rows: readonly unknown[], view: View, empty?: string): Promise<void> {
    if (rows.length !== 1 || this.structured) return this.printList(rows, view, empty);
    await this.printOne(rows[0], view);
    this.noteLater();
  }

  /** Reports a completed change: a message for people, and the object if a program reads the output. */
  async report(message: string, object: unknown, view: Partial<View> = {}): Promise<void> {
    this.note(message);
    if (this.structured || this.common.fields !== undefined) await this.printOne(object, view);
  }

  progress(text: string): Progress {
    return startProgress(this.io, this.hide(text));
  }

  /** Prompts for a text that no flag provides. */
  async askText(question: string, flag: string, preset?: string): Promise<string> {
    if (!this.interactive)
      throw usage(`${flag} is missing`, `Without a terminal, svc cannot ask for it: give ${flag}.`);
    return this.io.ask.text(question, preset);
  }

  async askSecret(question: string, instead: string): Promise<string> {
    if (!this.interactive)
      throw usage(
        `${question.toLowerCase()} is missing`,
        `Without a terminal, svc cannot ask for it: give ${instead}.`,
      );
    return this.io.ask.secret(question);
  }

  /** Prompts twice for a new secret and requires both inputs to match. */
  async askNewSecret(question: string, instead: string): Promise<string> {
    const first = await this.askSecret(question, instead);
    if (first !== (await this.askSecret(`${question} again`, instead))) throw usage("the two inputs differ");
    return first;
  }

  /** Whether this is a dry run. Nothing is changed, so no confirmation is needed. */
  get triesOut(): boolean {
    return this.common["dry-run"] === true;
  }

  /** Prompts for y or N; any answer but yes ends the command. */
  async confirm(question: string, flag = "--yes"): Promise<void> {
    if (this.common.yes === true || this.triesOut) return;
    if (!this.interactive) throw usage(`not confirmed: ${question}`, `Give ${flag} to confirm without a terminal.`);
    if (!(await this.io.ask.yes(question))) throw new CliError("usage", "not confirmed; nothing was changed");
  }

  /** Confirms an irreversible change: the user must type the name or the count. */
  async confirmTyped(question: string, expected: string): Promise<void> {
    if (this.triesOut) return;
    const { confirm } = this.common;
    let typed = typeof confirm === "string" ? confirm : undefined;
    if (typed === undefined) {
      if (!this.interactive)
        throw usage(`not confirmed: ${question}`, `Give --confirm ${expected} to confirm without a terminal.`);
      typed = await this.io.ask.text(`${question} Type ${expected} to confirm:`);
    }
    if (typed.trim() !== expected) {
      throw usage(`the confirmation is ${typed.trim()} instead of ${expected}; nothing was changed`);
    }
  }

  /** Lists the hosts that a plan is about. */
  #logTargets(targets: readonly unknown[]): void {
    const named = targets.filter((target): target is { id: number; display_name: string } =>
      ["id", "display_name"].every((key) => typeof target === "object" && target !== null && key in target),
    );
    for (const { id, display_name } of named.slice(0, MAX_LISTED_TARGETS))
      this.log(`  ${printable(display_name)} (${id})`);
    if (named.length > MAX_LISTED_TARGETS)
      this.log(`  and ${named.length - MAX_LISTED_TARGETS} more; -o json lists all of them`);
  }

  /** Prints what a command would change. */
  async printPlan(action: string, target: unknown, changes: readonly Change[] = []): Promise<void> {
    if (this.structured) {
      this.common.fields = undefined;
      await this.printOne({ dry_run: true, action, target, changes });
      return;
    }
    this.log(`would ${action}`);
    // The action names a single one.
    if (Array.isArray(target) && target.length > 1) this.#logTargets(target);
    for (const { field, from, to } of changes) {
      this.log(`  ${field}: ${from === undefined ? "" : `${JSON.stringify(from)} -> `}${JSON.stringify(to)}`);
    }
  }
}

export interface Change {
  readonly field: string;
  readonly from?: unknown;
  readonly to: unknown;
}

/** The fields of a request body that differ from the current object. The values of secrets are never shown. */
export function changesOf(before: Record<string, unknown>, body: Record<string, unknown>): Change[] {
  return Object.entries(body)
    .filter(([field, to]) => JSON.stringify(before[field]) !== JSON.stringify(to))
    .map(([field, to]) =>
      /password|secret|token/.test(field)
        ? { field, to: "(secret)" }
        : before[field] === undefined
          ? { field, to }
          : { field, from: before[field], to },
    );
}
