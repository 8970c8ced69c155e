// What a page says about its list; `ListPage` does the rest.
import type { ReactNode } from "react";
import type { AnyEndpoint, ReplyOf } from "../../../api/endpoint.ts";
import type { viewPages } from "../../../api/settings/views.ts";
import type { MenuItem } from "../menu.tsx";

export interface Column<Row> {
  readonly id: string;
  readonly name: string;
  readonly cell: (row: Row) => ReactNode;
  /** The order key, if the list can be ordered by it. */
  readonly order?: string;
  readonly isNumber?: boolean;
  /** Shown only if the user chooses it. */
  readonly isOptional?: boolean;
  /** Fields of the API that the cell needs, for lists that return only the fields that are requested. */
  readonly fields?: readonly string[];
}

export interface FilterOption {
  readonly value: string;
  readonly label: string;
}

/** A list that views can be saved of. */
export type ViewPage = (typeof viewPages)[number];

/** A filter, which is a parameter of the list's endpoint and of the page's URL. */
export interface Filter {
  readonly name: string;
  readonly label: string;
  /** The possible values, or a function that reads them. None: the user types one. */
  readonly options?: readonly FilterOption[] | (() => Promise<readonly FilterOption[]>);
  /** Finds some of very many values by a part of their names, and the name of one value. */
  readonly find?: {
    readonly options: (text: string) => Promise<readonly FilterOption[]>;
    readonly nameOf: (value: string) => Promise<string>;
  };
  /** Whether the value is a day, which is chosen in a calendar. */
  readonly isDay?: boolean;
  /** A parameter that is set together with it, because the endpoint needs both. */
  readonly needs?: { readonly name: string; readonly value: string };
}

/** The rows that the user has selected: single ones, or all that match the filters. */
export type Selection<Row> =
  | { readonly kind: "rows"; readonly rows: readonly Row[] }
  | {
      readonly kind: "matching";
      readonly count: number;
      /** The parameters of the list. */
      readonly filters: Readonly<Record<string, string>>;
    };

export const selectedCount = (selection: Selection<unknown>): number =>
  selection.kind === "rows" ? selection.rows.length : selection.count;

export interface SelectionAction<Row> {
  readonly name: string;
  /** `clear` ends the selection, when what was selected is gone. */
  readonly onSelect: (selection: Selection<Row>, clear: () => void) => void;
  readonly isDangerous?: boolean;
  /** Why it cannot be done now. */
  readonly disabled?: string | undefined;
}

/** What a list does with selected rows, if all rows that match cannot be selected in it. */
export const onRows =
  <Row>(act: (rows: readonly Row[]) => void) =>
  (selection: Selection<Row>): void => {
    if (selection.kind === "rows") act(selection.rows);
  };

export interface ListDefinition<E extends AnyEndpoint, Row> {
  /** The heading of the page and the name of the table: "Hosts". */
  readonly name: string;
  /** One of the rows: "host". The plural gets an s unless it is named. */
  readonly thing: string;
  /** The list's name in the API, if views of it can be saved. */
  readonly view?: ViewPage;
  readonly things?: string;
  readonly endpoint: E;
  readonly params?: Readonly<Record<string, string | number>>;
  /** Parameters of every request. */
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly rowsOf: (reply: ReplyOf<E>) => readonly Row[];
  /** The number of all rows that match, if the reply contains it. */
  readonly countOf?: (reply: ReplyOf<E>) => number | undefined;
  /** The endpoint that counts the rows, with the same filters, if the reply does not contain their number. */
  readonly count?: AnyEndpoint;
  readonly countParams?: Readonly<Record<string, string | number>>;
  /** Whether the endpoint takes `page` and `per_page`; default: yes. */
  readonly isPaged?: boolean;
  /** Whether the endpoint takes `team_id`; default: yes. */
  readonly hasTeams?: boolean;
  /** Whether the endpoint takes `query`, a text to search for; default: yes. */
  readonly hasSearch?: boolean;
  readonly defaultOrder?: { readonly key: string; readonly direction: "asc" | "desc" };
  readonly keyOf: (row: Row) => string | number;
  readonly nameOf: (row: Row) => string;
  readonly hrefOf?: (row: Row) => string;
  /** The first column is the name, which is the header of its row. */
  readonly columns: readonly Column<Row>[];
  readonly filters?: readonly Filter[];
  readonly actions?: readonly SelectionAction<Row>[];
  /** Whether the actions take all rows that match the filters, besides rows that were selected singly; default: no. */
  readonly hasMatching?: boolean;
  /** What is shown of a row beside the list, by its key. */
  readonly details?: (key: string) => ReactNode;
  /** The endpoint that returns the same list as CSV, and what it needs besides the filters. */
  readonly csv?: { readonly endpoint: AnyEndpoint; readonly query?: Readonly<Record<string, string>> };
  /** The command that lists the same: `hosts list`. */
  readonly command: string;
  /** Flags of the command that are not named as their parameter. */
  readonly flags?: Readonly<Record<string, string>>;
  readonly more?: readonly MenuItem[];
  /** A note above the table about what was read, if there is one. */
  readonly note?: (reply: ReplyOf<E>) => string | null;
  /** What is shown if there are no rows at all. */
  readonly empty: ReactNode;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of any rows, as a bound only
export type AnyListDefinition = ListDefinition<any, any>;
