// Asset declarations as they stand in controls: files.
import { z } from "zod";

const file = (description: string) => z.string().min(1).nullish().meta({ description });

export const ASSETS_MAX = 10_000;

export const AssetFile = z
  .strictObject({
    path: file("an asset declaration, relative to this file"),
    paths: file("asset declarations by a pattern"),
  })
  .superRefine((asset, context) => {
    if (!asset.path && !asset.paths)
      context.addIssue({ code: "custom", path: ["path"], message: "is required, or paths" });
  });
export type AssetFile = z.output<typeof AssetFile>;
