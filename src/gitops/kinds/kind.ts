// What the client knows about one kind of configuration.
import type { z } from "zod";
import type { ConfigurationState, ThingKey } from "../../api/edge/configuration.ts";
import type { GitopsExceptions } from "../../api/settings/app-config.ts";
import type { Json } from "../../text/differences.ts";
import type { Current } from "../desired/current.ts";
import type { DocumentRun, Run } from "../desired/run.ts";
import type { Fields } from "../export/fields.ts";
import type { ExportedSections, ExportScope } from "../export/scope.ts";
import type { CollectedItems, PlacedItem } from "../files/collect.ts";
import type { ItemFiles } from "../files/item-files.ts";
import type { Problems } from "../files/problems.ts";
import type { FileScope } from "../files/read.ts";
import type { SectionFile } from "../files/section-files.ts";
import type { SoftwareList } from "../files/software.ts";
import type { Reading, Spec } from "../files/spec.ts";
import type { Mapping } from "../files/tree.ts";
import type { Details } from "../plan/activities.ts";
import type { Change, Thing } from "../plan/diff.ts";
import type { ScopeKind } from "../schema/sections.ts";

interface NamedItem {
  readonly name: string;
}

/** Kinds whose objects are the items of a list in main files. Written with methods, so that one list has them all. */
export interface Items<T extends NamedItem = NamedItem> {
  /** The key of the list in main files. */
  readonly list: string;
  /** The key under which newer files have it, if it differs. */
  readonly newer?: string;
  /** Files whose list is refused, or ignored with a warning, because their owner cannot have such objects. */
  readonly notIn?: { readonly [file in ScopeKind]?: { readonly as: "error" | "warn"; readonly message: string } };
  /** Schema of an item in a list. For files, their name and digest (`sha256`) are added. */
  readonly schema: z.ZodType<Partial<T>>;
  /** If the items are files: where the lists are instead of at the top level. */
  readonly files?: readonly ItemFiles[];
  /** If the items are software: the lists in the section `software`. */
  readonly software?: readonly SoftwareList[];
  /** The SQL in a value, by its field, with the contents of files by their digests. */
  sql?(
    value: { readonly [key: string]: unknown },
    contents: ReadonlyMap<string, Buffer>,
  ): Readonly<Record<string, unknown>>;
  /** What packs of osquery have of these items: their queries, or the label of their discovery. */
  readonly inPacks?: "content" | "discovery";
  /** Whether items count whichever files apply, because they come with what all files say. */
  readonly isOfAllFiles?: true;
  /** The fields of a value that contain names of labels. */
  readonly labelFields: readonly string[];
  /** Keys of its documents in the older format that are ignored. */
  readonly ignoredInDocuments?: readonly string[];
  /** The meaning of an item that leaves these fields out: exports do not write them. */
  readonly defaults: { readonly [key: string]: Json };
  /** How a value is written to a file, if some fields have another form there. */
  inFile?(value: Fields): Fields;
  /** Rules that need more than the item's own schema. */
  check?(item: PlacedItem<T>, problems: Problems): void;
  /** The value with what it says of objects of other kinds. Called when all items have been read. */
  linked?(item: PlacedItem<T>, items: CollectedItems, problems: Problems): T;
  /** Hosts that an item names, which the server has to look up. */
  hosts?(value: T): readonly (string | number)[];
  /** The objects that the items ask for. `teamsAfter`: names of the teams that will exist after the run. */
  desired(
    items: readonly PlacedItem<T>[],
    current: Current,
    problems: Problems,
    teamsAfter: ReadonlySet<string>,
  ): Thing[];
}

/** A file that the server has to download before an apply. */
export interface Download {
  readonly slug?: string;
  readonly version?: string;
  readonly url?: string;
  readonly always_download?: boolean;
  readonly hash_sha256?: string;
}

/** Documents of the older format with objects of a kind that stands in sections. */
export interface DocumentKind {
  /** The `kind` of such a document. */
  readonly kind: string;
  /** Whether there may be only one. */
  readonly isSingle?: true;
  /** Null, with the problems reported, if the document does not match. */
  read(spec: Mapping, reading: Reading): Spec | null;
}

export interface Kind<T extends NamedItem = NamedItem> {
  /** What plans call it. */
  readonly noun: string;
  /** The exception of GitOps mode with which people change these objects by hand. */
  readonly exception?: keyof GitopsExceptions;
  /** For kinds that stand in lists. */
  readonly items?: Items<T>;
  /** Rules that one main file must satisfy, checked before the server is asked. */
  check?(file: FileScope, problems: Problems): void;
  /** For kinds that stand in sections: the objects that the files ask for. */
  desired?(run: Run, items: CollectedItems): Thing[];
  /** Whether the files are the complete list (for items: default: if they have the owner), so that this object, which they do not contain, is deleted. */
  isComplete?(thing: ThingKey, run: Run): boolean;
  /** For kinds whose object is a file that a section names. */
  readonly file?: SectionFile;
  readonly document?: DocumentKind;
  /** The file that the server needs before it can apply the value. `before`: the present value. Null: none. */
  download?(value: Json, before: Json | undefined): Download | null;
  /** The value with the digest of a file: of the downloaded one, or else of the present one. */
  withFile?(value: Json, sha256: string | null, before: Json | undefined): Json;
  ofDocuments?(run: DocumentRun): Thing[];
  /** What an export writes to the sections of a main file. */
  exported?(scope: ExportScope): ExportedSections;
  /** The value of a new team, for kinds whose first value does not depend on the organization. */
  readonly ofNewTeam?: Json;
  /** The value of a new object of which the files say nothing: plans show only what differs from it. */
  usual?(defaults: ConfigurationState["defaults"]): Json;
  /** How plans recognize that an object was renamed in the files, which removes it and adds another. */
  readonly renamed?: {
    /** What the new object has like the removed one: first its SQL. Without SQL, nothing is recognized. */
    by(value: { readonly [key: string]: unknown }): readonly unknown[];
    readonly lost: string;
    /** The command that renames it on the server. */
    readonly command: string;
  };
  /** The list in the value whose order has no meaning. */
  readonly unordered?: string;
  /** The types of activities that can explain a change. */
  typesOf(change: Change): readonly string[];
  /** Whether an activity of one of these types is about the changed object and fields. */
  isAbout(details: Details, type: string, change: Change): boolean;
}
