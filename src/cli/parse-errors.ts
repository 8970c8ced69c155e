// Translates the errors of oclif's parser to messages of this command line.
import { nearest } from "../text/nearest.ts";

/** What is wrong, and a hint if there is a better one than the command's help. */
export interface Wrong {
  readonly message: string;
  readonly hint?: string;
}

interface Taker {
  readonly name: string;
  readonly description?: string;
  readonly helpValue?: string | string[];
  readonly type?: string;
}
interface Parse {
  readonly input?: {
    readonly flags?: Readonly<Record<string, Taker>>;
    readonly args?: Readonly<Record<string, Taker>>;
  };
}

const isNamed = (error: Error, name: string): boolean => error.constructor.name === name;

export function wrongOf(error: Error): Wrong {
  const { input } = ("parse" in error ? (error.parse as Parse) : {}) ?? {};
  if (isNamed(error, "RequiredArgsError") && "args" in error) return missingArgs(error.args as Taker[]);
  if (isNamed(error, "UnexpectedArgsError") && "args" in error) {
    const words = (error.args as string[]).join(" ");
    const takes = Object.values(input?.args ?? {}).map(({ name }) => name.toUpperCase());
    return {
      message: `unexpected argument: ${words}`,
      hint: takes.length === 0 ? "The command has no arguments." : `Its arguments are ${takes.join(" ")}.`,
    };
  }
  // The last lines contain the reasons, with colours on a terminal.
  const lines = error.message.split("\n").map((line) => line.replace(styles, "").trim());
  const reasons = lines.filter(
    (line) => line !== "" && !line.startsWith("See more help") && !/^The following errors? occurred:$/.test(line),
  );
  const flags = input?.flags ?? {};
  if (isNamed(error, "FailedFlagValidationError")) {
    const texts = reasons.map((reason) => flagReason(reason, flags));
    return { message: texts.join("; ") };
  }
  return valueReason(reasons.join(" "));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const styles = /\u001b\[[0-9;]*m/g;

function missingArgs(args: readonly Taker[]): Wrong {
  const names = args.map(({ name }) => name.toUpperCase());
  const about = args
    .filter(({ description }) => description)
    .map((arg) => `${arg.name.toUpperCase()}: ${arg.description}`);
  return {
    message: `${names.join(" and ")} ${names.length === 1 ? "is" : "are"} required.`,
    ...(about.length === 0 ? {} : { hint: `${about.join("; ")}.` }),
  };
}

/** The flag with its value as typed, e.g. `--to TEAM`. */
function typed(name: string, flags: Readonly<Record<string, Taker>>): string {
  const flag = flags[name];
  if (flag?.type === "boolean") return `--${name}`;
  const value = [flag?.helpValue ?? "VALUE"].flat()[0];
  return `--${name} ${value}`;
}

const listed = (names: string): string => names.replace(/, (?=[^,]*$)/, " and ");

function flagReason(reason: string, flags: Readonly<Record<string, Taker>>): string {
  const [, required] = /^Missing required flag (.+)$/.exec(reason) ?? [];
  if (required !== undefined) return `${typed(required, flags)} is required.`;
  const [, first, other] = /^--([\w-]+)(?:=.*)? cannot also be provided when using --([\w-]+)/.exec(reason) ?? [];
  if (other !== undefined) return `--${first} and --${other} cannot be given together`;
  const [, needing, needed] = /^All of the following must be provided when using --([\w-]+): (.+)$/.exec(reason) ?? [];
  if (needed !== undefined) return `--${needing} needs ${listed(needed)}`;
  const [, amount, which] = /^(Exactly|At least) one of the following must be provided: (.+)$/.exec(reason) ?? [];
  if (which !== undefined)
    return `${amount === "Exactly" ? "exactly" : "at least"} one of ${listed(which)} is required`;
  return reason;
}

const bounds: Readonly<Record<string, string>> = { greater: "less than", less: "more than" };

function valueReason(message: string): Wrong {
  const [, flag = "", flagValue, values] = /^Expected (?:(--[\w-]+)=)?(.*) to be one of: (.*)$/.exec(message) ?? [];
  if (flagValue !== undefined && values !== undefined) {
    const near = nearest(flagValue, values.split(", "));
    const what = flag === "" ? flagValue : `${flag}: ${flagValue}`;
    return {
      message: `${what} is not a valid value${near ? `; did you mean ${near}?` : ""}`,
      hint: `One of: ${values}`,
    };
  }
  const [, parsed, reason] = /^Parsing (--[\w-]+|\S+) (.+)$/.exec(message) ?? [];
  const at = parsed === undefined ? "" : `${parsed}: `;
  const text = reason ?? message;
  const [, word] = /^Expected an integer but received: (.*)$/.exec(text) ?? [];
  if (word !== undefined) return { message: `${at}${word} is not a whole number` };
  const [, time] = /^Expected a duration but received: (.*)$/.exec(text) ?? [];
  if (time !== undefined)
    return { message: `${at}${time} is not a duration in whole seconds`, hint: "Examples: 30, 25s, 10m, 24h." };
  const [, than, bound, number] =
    /^Expected an integer (greater|less) than or equal to (\S+) but received: (.*)$/.exec(text) ?? [];
  if (than !== undefined) return { message: `${at}${number} is ${bounds[than]} ${bound}` };
  const [, valued, options] = /^Flag (--[\w-]+) expects (?:a value|one of these values: (.*))$/.exec(text) ?? [];
  if (valued !== undefined)
    return { message: `${valued} needs a value`, ...(options === undefined ? {} : { hint: `One of: ${options}` }) };
  const [, twice] = /^Flag (--[\w-]+) can only be specified once$/.exec(text) ?? [];
  if (twice !== undefined) return { message: `${twice} can be given only once` };
  return { message };
}
