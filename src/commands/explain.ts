import type { Config } from "@oclif/core/config";
import { allEndpoints } from "../api/all.ts";
import { BaseCommand } from "../cli/base-command.ts";
import { usage } from "../cli/errors.ts";
import { args } from "../cli/flags.ts";
import { commandsCalling } from "../cli/help/endpoint-commands.ts";
import { explain, type FieldExplanation, findResource, type Resource, resources, usesOf } from "../cli/help/explain.ts";
import { wholeConfig } from "../cli/run/config.ts";
import { nearest } from "../text/nearest.ts";

export default class Explain extends BaseCommand {
  static override summary = "Describe a resource of the API: fields, types, values, and the endpoints that use them.";
  static override description =
    "RESOURCE is singular or plural (host, hosts), FIELD one of its fields, with dots for nested fields. Without an argument, the resources are " +
    "listed. No server is needed: this is the API of this version of the client.";
  static override args = { resource: args.optional("RESOURCE, or RESOURCE.FIELD") };
  static override examples = [
    "<%= config.bin %> <%= command.id %> hosts",
    "<%= config.bin %> <%= command.id %> policy.platform",
    "<%= config.bin %> <%= command.id %> host.mdm -o json",
  ];

  async run() {
    const { args } = await this.parse(Explain);
    if (args.resource === undefined) return this.#list();
    const [name = "", ...path] = args.resource.split(".");
    const resource = findResource(name);
    if (!resource) {
      const names = resources().map((match) => match.name);
      const near = nearest(name, names);
      throw usage(`there is no resource ${name}`, near ? `Did you mean ${near}?` : `Resources: ${names.join(", ")}`);
    }
    const explanation = explain(resource, path);
    if (!explanation) throw this.#unknownField(resource, path);
    const uses = usesOf(resource, path);
    const all = await wholeConfig(this.config);
    const whole = {
      resource: resource.name,
      ...explanation,
      read_by: this.#callers(all, uses.reads),
      set_by: this.#callers(all, uses.sets),
      filtered_by: this.#callers(all, uses.filters),
    };
    if (this.structured || this.common.fields !== undefined) return this.printOne(whole);
    this.#explain(resource, explanation, whole);
    if (explanation.fields.length === 0) return;
    this.log();
    await this.printList(explanation.fields, {
      columns: [{ key: "field", whole: true }, { key: "type" }, { key: "description", whole: true }],
    });
  }

  async #list(): Promise<void> {
    await this.printList(
      resources().map(({ name, plural, group }) => ({ resource: name, plural, group })),
      { columns: ["resource", "plural", "group"] },
    );
  }

  #explain(
    { name }: Resource,
    { field, type, description, values }: FieldExplanation,
    uses: Readonly<Record<"read_by" | "set_by" | "filtered_by", readonly Caller[]>>,
  ): void {
    this.log(`${[name, field].filter((part) => part !== "").join(".")}: ${type}`);
    if (description !== "") this.log(description);
    if (values.length > 0) this.log(`Values: ${values.join(", ")}`);
    for (const [title, callers] of [
      ["Read by", uses.read_by],
      ["Set by", uses.set_by],
      ["Filtered by", uses.filtered_by],
    ] as const) {
      if (callers.length === 0) continue;
      this.log(`${title}:`);
      for (const { endpoint, commands } of callers)
        this.log(`  ${endpoint}${commands.length === 0 ? "" : `  (${commands.join(", ")})`}`);
    }
  }

  /** Endpoints, each with the commands that call it. */
  #callers(all: Config, names: readonly string[]): Caller[] {
    return names.map((name) => {
      const { endpoint } = allEndpoints.find((candidate) => candidate.name === name)!;
      const commands = commandsCalling(all, name, endpoint).sort();
      return { endpoint: `${endpoint.method} ${endpoint.path}`, commands };
    });
  }

  #unknownField(resource: Resource, path: readonly string[]) {
    const last = path.at(-1) ?? "";
    const above = explain(resource, path.slice(0, -1));
    const fields = above?.fields.map(({ field }) => field) ?? [];
    const near = nearest(last, fields);
    return usage(
      `${[resource.name, ...path.slice(0, -1)].join(".")} has no field ${last}`,
      near ? `Did you mean ${near}?` : fields.length > 0 ? `Fields: ${fields.join(", ")}` : undefined,
    );
  }
}

interface Caller {
  readonly endpoint: string;
  readonly commands: readonly string[];
}
