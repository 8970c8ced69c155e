// What every command shares: output formats, prompts, confirmation, remarks. Data goes to stdout, all else to stderr.
import type { Config, Interfaces } from "@oclif/core";
import { Command } from "@oclif/core/command";
import type { AnyEndpoint } from "../api/endpoint.ts";
import { CliError, usage } from "./errors.ts";
import { generalFlags, outputFlags } from "./flags.ts";
import { type Io, ioOf, isDumb } from "./io.ts";
import {
  type Format,
  formats,
  type OutputOptions,
  type Pages,
  renderOne,
  selectOf,
  type View,
  writeList,
} from "./output.ts";
import { type Progress, startProgress } from "./progress.ts";

type Flags = Record<string, unknown>;

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
  /** The endpoints that the command calls for its user; together the commands have to cover all. */
  static endpoints: readonly AnyEndpoint[] = [];
  /** Whether it takes away what was there: it asks before, and help says so. */
  static destructive = false;

  protected readonly io: Io;
  /** The flags as parsed, for what all commands share. */
  protected common: Flags = {};

  constructor(argv: string[], config: Config) {
    super(argv, config);
    this.io = ioOf(config);
  }

  /** As oclif's `run`, which would load the whole configuration a second time. */
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

  // Formats are chosen by --output; oclif's own JSON printing is not used.
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
    // Left to itself oclif takes a missing argument from stdin, and waits for one.
    for (const arg of Object.values((options ?? this.ctor).args ?? {})) Object.assign(arg, { ignoreStdin: true });
    const parsed = await super.parse<F, B, A>(options, argv);
    this.common = { ...(parsed.flags as Flags) };
    // Whether the expression is one is found before anything is asked or changed.
    if (this.common.jq !== undefined) await selectOf(this.outputOptions);
    return parsed;
  }

  override log(message = ""): void {
    this.io.out(`${message}\n`);
  }

  /** A remark for people, on stderr. */
  protected note(message: string): void {
    this.io.err(`${message}\n`);
  }

  override warn(input: string | Error): string | Error {
    this.io.err(`${this.paint(33, "Warning:")} ${input instanceof Error ? input.message : input}\n`);
    return input;
  }

  protected get format(): Format {
    if (this.common.json === true) return "json";
    const { output, jq } = this.common;
    // An expression selects from JSON: without -o that is what it means.
    const text = typeof output === "string" ? output : typeof jq === "string" ? "json" : this.io.env.SVC_OUTPUT;
    if (text === undefined || text === "") return "table";
    const format = formats.find((known) => known === text);
    if (!format) throw usage(`SVC_OUTPUT: ${text} is no output format`, `Formats: ${formats.join(", ")}`);
    return format;
  }

  /** Whether the output is for a program. */
  protected get structured(): boolean {
    return this.format !== "table";
  }

  protected get interactive(): boolean {
    const { env, tty } = this.io;
    const off = this.common["no-input"] === true || (env.SVC_NO_INPUT ?? "") !== "" || (env.CI ?? "") !== "";
    return tty.stdin && tty.stderr && !off;
  }

  /** Times as people say them, on a terminal only. */
  protected get relativeTimes(): boolean {
    return this.io.tty.stdout && this.format === "table";
  }

  protected paint(code: number, text: string, stream: "stdout" | "stderr" = "stderr"): string {
    const { env, tty } = this.io;
    const off = this.common["no-color"] === true || this.argv.includes("--no-color") || (env.NO_COLOR ?? "") !== "";
    return !off && tty[stream] && !isDumb(this.io) ? `\u001b[${code}m${text}\u001b[0m` : text;
  }

  private get outputOptions(): OutputOptions {
    const fields = listFlag(this.common.fields);
    return {
      format: this.format,
      ...(fields === undefined ? {} : { fields }),
      ...(typeof this.common.jq === "string" ? { jq: this.common.jq } : {}),
      header: this.common["no-header"] !== true,
      bold: (text) => this.paint(1, text, "stdout"),
      width: this.io.tty.stdout ? this.io.columns : null,
    };
  }

  /** Rows, or pages of rows that are printed as they come. */
  protected async printList(
    rows: readonly unknown[] | AsyncIterable<readonly unknown[]>,
    view: View,
    empty = "none found",
  ): Promise<void> {
    const pages: Pages = Symbol.asyncIterator in rows ? rows : [rows];
    const count = await writeList(pages, view, this.outputOptions, (text) => this.write(text));
    if (count === 0 && !this.structured) this.note(empty);
  }

  /** Text for stdout; waits while its reader is slow, so that it does not pile up here. */
  protected async write(text: string): Promise<void> {
    if (this.io.outText) await this.io.outText(text);
    else this.io.out(text);
  }

  protected async printOne(object: unknown, view: Partial<View> = {}): Promise<void> {
    this.io.out(await renderOne(object, view, this.outputOptions));
  }

  /** What was done: a remark for people, the object for programs. */
  protected async report(message: string, object: unknown, view: Partial<View> = {}): Promise<void> {
    this.note(message);
    if (this.structured || this.common.fields !== undefined) await this.printOne(object, view);
  }

  protected progress(text: string): Progress {
    return startProgress(this.io, text);
  }

  /** Asks for a text that no flag gave. */
  protected async askText(question: string, flag: string, preset?: string): Promise<string> {
    if (!this.interactive) throw usage(`${flag} is missing`, `Without a terminal nothing is asked: give ${flag}.`);
    return this.io.ask.text(question, preset);
  }

  protected async askSecret(question: string, instead: string): Promise<string> {
    if (!this.interactive)
      throw usage(`${question.toLowerCase()} is missing`, `Without a terminal nothing is asked: give ${instead}.`);
    return this.io.ask.secret(question);
  }

  /** A new secret, typed twice. */
  protected async askNewSecret(question: string, instead: string): Promise<string> {
    const first = await this.askSecret(question, instead);
    if (first !== (await this.askSecret(`${question} again`, instead))) throw usage("these are not the same");
    return first;
  }

  /** y or N; anything but a yes ends the command. */
  protected async confirm(question: string, flag = "--yes"): Promise<void> {
    if (this.common.yes === true) return;
    if (!this.interactive) throw usage(`not confirmed: ${question}`, `Give ${flag} to confirm without a terminal.`);
    if (!(await this.io.ask.yes(question))) throw new CliError("usage", "not confirmed; nothing was changed");
  }

  /** For what cannot be taken back: the name or the count itself has to be given. */
  protected async confirmTyped(question: string, expected: string): Promise<void> {
    const { confirm } = this.common;
    let given = typeof confirm === "string" ? confirm : undefined;
    if (given === undefined) {
      if (!this.interactive)
        throw usage(`not confirmed: ${question}`, `Give --confirm ${expected} to confirm without a terminal.`);
      given = await this.io.ask.text(`${question} Type ${expected} to confirm:`);
    }
    if (given.trim() !== expected) {
      throw usage(`the confirmation ${given.trim()} is not ${expected}; nothing was changed`);
    }
  }

  /** Prints what a command would change. */
  protected async printPlan(action: string, target: unknown, changes: readonly Change[] = []): Promise<void> {
    if (this.structured) {
      this.common.fields = undefined;
      await this.printOne({ dry_run: true, action, target, changes });
      return;
    }
    this.log(`would ${action}`);
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

/** The fields of a body that differ from what is there. Secrets are told as changed, never shown. */
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
