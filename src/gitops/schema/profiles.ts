// Configuration profiles as they stand in controls: files, with the labels that limit them.
import { z } from "zod";
import { labelNames, name as text } from "./fields.ts";

const file = (description: string) => z.string().min(1).nullish().meta({ description });

export const ProfileFile = z
  .strictObject({
    path: file("a profile, relative to this file"),
    paths: file("profiles by a pattern; the other keys apply to each of them"),
    display_name: text.nullish().meta({
      description:
        "name of a declaration, or of a profile for Windows or Android; default: its file's, without extension",
    }),
    labels_include_all: labelNames(1000),
    labels_include_any: labelNames(1000),
    labels_exclude_any: labelNames(1000),
    activation: file("the declaration's own activation, relative to this file"),
  })
  .superRefine((profile, context) => {
    const wrong = (key: string, message: string) => context.addIssue({ code: "custom", path: [key], message });
    if (!profile.path && !profile.paths) wrong("path", "is required, or paths");
    if (profile.paths && profile.display_name)
      wrong("display_name", "cannot be used with paths: each file has its own name");
    if (profile.activation && !/\.json$/i.test(profile.path ?? ""))
      wrong("activation", "can only be used with the path of a declaration, a .json file");
    if (profile.path && profile.display_name && /\.mobileconfig$/i.test(profile.path))
      wrong("display_name", "cannot be given: a .mobileconfig file contains its own name");
    if (profile.labels_include_all.length > 0 && profile.labels_include_any.length > 0)
      wrong("labels_include_any", "give either labels_include_all or labels_include_any, not both");
  });
export type ProfileFile = z.output<typeof ProfileFile>;
