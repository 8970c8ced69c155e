// Saved scripts as they stand in controls: files.
import { z } from "zod";
import { name } from "./fields.ts";

const file = (description: string) => z.string().min(1).nullish().meta({ description });

export const ScriptFile = z
  .strictObject({
    path: file("a script, relative to this file"),
    paths: file("scripts by a pattern"),
    display_name: name.nullish().meta({ description: "name of the script; default: its file's" }),
  })
  .superRefine((script, context) => {
    const wrong = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    if (!script.path && !script.paths) wrong("path", "is required, or paths");
    if (script.paths && script.display_name)
      wrong("display_name", "cannot be used with paths: each file has its own name");
  });
export type ScriptFile = z.output<typeof ScriptFile>;
