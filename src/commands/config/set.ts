import * as Flags from "@oclif/core/flags";
import type { z } from "zod";
import { isMask } from "../../api/fields.ts";
import { configSecrets, secretPaths } from "../../api/secret-fields.ts";
import { AppConfig, appConfigApi, ConfigSections } from "../../api/settings/app-config.ts";
import type { Change } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError, errorReport, usage } from "../../cli/errors.ts";
import { parseValue, readBody, readText } from "../../cli/files/input.ts";
import { args, dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { fieldPaths, isField, valueAt } from "../../cli/output/fields.ts";
import { operatorSetting } from "../../cli/topics/config/operator-settings.ts";
import { warningAfterChange } from "../../cli/topics/mdm/enrolled-elsewhere.ts";
import { ApiCallError } from "../../client/errors.ts";
import { nearest } from "../../text/nearest.ts";
import { isRecord, ownOf } from "../../text/record.ts";

/** Where Apple devices connect to. */
const addresses = ["server_settings.server_url", "mdm.vendora_server_url"];
const secrets: ReadonlySet<string> = new Set(["smtp_settings.password"]);

type Json = { [key: string]: Json | z.core.util.JSONType };

export default class ConfigSet extends ClientCommand {
  static override summary = "Change settings of the server.";
  static override endpoints = [appConfigApi.modify];
  static override strict = false;
  static override args = { assignments: args.optional("PATH=VALUE ...; values as in JSON, or text, or @FILE") };
  static override flags = {
    force: Flags.boolean({
      summary: "Skip the checks of agent options, of trackers, and for users who need mail to sign in.",
    }),
    overwrite: Flags.boolean({ summary: "Reset fields that are missing from the given sections to their defaults." }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> org_info.org_name='Example Inc' host_expiry_settings.host_expiry_enabled=false",
    "<%= config.bin %> <%= command.id %> org_info.org_name=Example --dry-run",
  ];

  async run() {
    const { argv, flags } = await this.parse(ConfigSet);
    const body: Json = (await readBody(this.io, flags.input)) as Json;
    const paths: string[] = [];
    for (const assignment of argv.map(String)) {
      const at = assignment.indexOf("=");
      if (at <= 0) throw usage(`${assignment} is not PATH=VALUE`, "For instance org_info.org_name=Example");
      const path = assignment.slice(0, at);
      const text = assignment.slice(at + 1);
      const operator = path.includes(".") ? null : await operatorSetting(path, this.config);
      if (operator) throw operator;
      const value = await this.#value(path, text);
      if (!text.startsWith("@") && holdsSecret(path, value))
        throw usage(`${path} contains secrets`, `Give it by file, ${path}=@FILE, or - for stdin.`);
      assign(body, path, value);
      paths.push(path);
    }
    if (Object.keys(body).length === 0) throw usage("nothing to change", "Give PATH=VALUE, or --input FILE.");
    const before = flags["dry-run"] ? await this.call(appConfigApi.get) : null;
    const query = { force: flags.force, overwrite: flags.overwrite, dry_run: flags["dry-run"] };
    const input = { query, body: body as Record<string, z.core.util.JSONType> };
    const config = await this.call(appConfigApi.modify, input).catch((error: unknown) => {
      throw withSuggestion(error, paths);
    });
    if (before !== null) return this.printPlan("change the configuration", null, changes(before, config, body));
    const changed = paths.length > 0 ? paths.join(", ") : Object.keys(body).join(", ");
    await this.report(`changed ${changed}`, config, { schema: () => AppConfig });
    if (addresses.every((path) => valueAt(body, path) === undefined)) return;
    const lost = await warningAfterChange(await this.client());
    if (lost !== null) this.note(lost);
  }

  /** Values of text settings stay text: an organization may be called 42. */
  async #value(path: string, text: string): Promise<unknown> {
    if (secrets.has(path) && text !== "") {
      // Arguments are visible in the shell's history and in process lists.
      if (!text.startsWith("@")) throw usage(`${path} is a secret`, `Give it by file, ${path}=@FILE, or - for stdin.`);
      return (await readText(this.io, text.slice(1), path)).replace(/\r?\n$/, "");
    }
    const leaf = path.split(".").reduce<unknown>((at, key) => ownOf(shapeOf(at) ?? {}, key), ConfigSections);
    const isText = (leaf as z.ZodType | undefined)?.def?.type === "string";
    if (isText && !text.startsWith("@")) return text;
    if (!/^[[{]/.test(text)) return parseValue(this.io, text, path);
    try {
      return JSON.parse(text);
    } catch {
      throw usage(`${path}: ${text.slice(0, 100)} is not JSON`, `Quote it in the shell, or use a file: ${path}=@FILE`);
    }
  }
}

/** A refusal of the server, with the setting that an unknown path resembles. */
function withSuggestion(error: unknown, paths: readonly string[]): unknown {
  const unknown = paths.find((path) => !isField(ConfigSections, path));
  if (unknown === undefined || !(error instanceof ApiCallError) || ![400, 422].includes(error.status)) return error;
  const { code, message, errors, hint, request_id } = errorReport(error);
  const near = nearest(unknown, fieldPaths(ConfigSections));
  const better = near === undefined ? hint : `Did you mean ${near}?`;
  return new CliError(code, message, better ?? undefined, errors, request_id ?? undefined);
}

/** Whether a value contains secrets, such as the tokens of trackers. Masked and empty values do not count. */
function holdsSecret(path: string, value: unknown): boolean {
  const config: Json = {};
  assign(config, path, value);
  return Object.entries(configSecrets).some(([section, fields]) =>
    secretPaths(fields, config[section]).some((at) => {
      const secret = at.reduce<unknown>((part, key) => (part as Record<string, unknown>)[key], config[section]);
      return secret !== "" && !isMask(secret);
    }),
  );
}

const shapeOf = (schema: unknown): Record<string, unknown> | undefined =>
  (schema as { shape?: Record<string, unknown> } | undefined)?.shape;

function assign(body: Json, path: string, value: unknown): void {
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  if ([...keys, last].some((key) => key === "" || key === "__proto__")) throw usage(`${path} is not a valid path`);
  let at = body;
  for (const key of keys) {
    const next = at[key];
    if (isRecord(next)) at = next;
    else {
      const fresh: Json = {};
      at[key] = fresh;
      at = fresh;
    }
  }
  at[last] = value as Json;
}

/** The changes that the server reports, for each field that was sent. */
function changes(before: AppConfig, after: AppConfig, sent: unknown, prefix = ""): Change[] {
  if (isRecord(sent) && prefix.split(".").length < 3) {
    return Object.entries(sent).flatMap(([key, inner]) =>
      changes(before, after, inner, prefix === "" ? key : `${prefix}.${key}`),
    );
  }
  const [from, to] = [valueAt(before, prefix), valueAt(after, prefix)];
  return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field: prefix, from, to }];
}
