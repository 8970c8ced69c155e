// Flags with which a team offers a store app.
import * as Flags from "@oclif/core/flags";
import { fieldNames } from "../../../api/plain-fields.ts";
import { newStoreAppFields, storeAppFields } from "../../../api/software/store-app.ts";
import { readText } from "../../files/input.ts";
import type { Io } from "../../io.ts";
import { fieldsOfFlags, plainFlags } from "../../plain-flags.ts";

const labels = (summary: string) => Flags.string({ summary, multiple: true, helpValue: "LABEL" });

export const offerFlags = {
  ...plainFlags(newStoreAppFields),
  category: Flags.string({ summary: "Category in self-service. Can be repeated.", multiple: true, helpValue: "NAME" }),
  "include-any": labels("Only hosts with at least one of these labels. Can be repeated."),
  "include-all": labels("Only hosts with all of these labels. Can be repeated."),
  "exclude-any": labels("Only hosts without these labels. Can be repeated."),
  configuration: Flags.string({
    summary: "File with settings of the app: a property list (iPhones and iPads), or JSON (Android).",
    helpValue: "FILE",
  }),
};

interface StoreAppFlags extends Readonly<Record<string, unknown>> {
  readonly category?: string[] | undefined;
  readonly "include-any"?: string[] | undefined;
  readonly "include-all"?: string[] | undefined;
  readonly "exclude-any"?: string[] | undefined;
  readonly configuration?: string | undefined;
}

/** The fields of the request that the flags set. */
export async function offerOf(io: Io, flags: StoreAppFlags) {
  const { category, configuration } = flags;
  const text = configuration === undefined ? undefined : await readText(io, configuration, "--configuration");
  return {
    ...fieldsOfFlags(flags, fieldNames(storeAppFields)),
    ...(category === undefined ? {} : { categories: category }),
    ...(flags["include-any"] === undefined ? {} : { labels_include_any: flags["include-any"] }),
    ...(flags["include-all"] === undefined ? {} : { labels_include_all: flags["include-all"] }),
    ...(flags["exclude-any"] === undefined ? {} : { labels_exclude_any: flags["exclude-any"] }),
    ...(text === undefined ? {} : { configuration: text }),
  };
}
