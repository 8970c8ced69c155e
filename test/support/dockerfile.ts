// Parses the instructions of a Dockerfile, as far as ours uses the language.
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export interface Copy {
  /** The stage from which the files are copied; null for the build context. */
  readonly from: string | null;
  readonly sources: readonly string[];
  readonly target: string;
}

export function readDockerfile(text: string): Stage[] {
  const lines = text
    .split("\n")
    .filter((line) => !/^\s*(#|$)/.test(line))
    .join("\n")
    .replace(/\\\n\s*/g, "")
    .split("\n");
  const stages: { name: string; base: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
    if (name === "") throw new Error(`not an instruction: ${line}`);
    if (name === "FROM") {
      const [base = "", , stage = String(stages.length)] = rest.split(/\s+/);
      stages.push({ name: stage, base, instructions: [] });
    } else stages.at(-1)!.instructions.push({ name, text: rest });
  }
  return stages;
}

export const copiesOf = (stage: Stage): Copy[] =>
  stage.instructions
    .filter(({ name }) => name === "COPY")
    .map(({ text }) => {
      const words = text.split(/\s+/);
      const from = words[0]!.startsWith("--from=") ? words.shift()!.slice("--from=".length) : null;
      return { from, sources: words.slice(0, -1), target: words.at(-1)! };
    });

export const instructionOf = (stage: Stage, name: string): string | undefined =>
  stage.instructions.findLast((one) => one.name === name)?.text;
