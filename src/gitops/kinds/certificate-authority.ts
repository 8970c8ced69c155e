// Certificate authorities.
import { isSingle } from "../../api/ca.ts";
import { anyOf } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

export const certificateAuthority: Kind = {
  noun: "certificate authority",
  typesOf: ({ name }) => anyOf(name.split("/")[0]!).map((type) => type.replace("created_", "added_")),
  isAbout: (details, _, { name }) => {
    const [type, own] = name.split("/") as [Parameters<typeof isSingle>[0], string];
    return isSingle(type) || details.name === own;
  },
};
