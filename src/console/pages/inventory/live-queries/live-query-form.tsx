import { type ReactElement, useState } from "react";
import type { Query } from "../../../../api/checks/queries.ts";
import { labelsApi } from "../../../../api/hosts/labels.ts";
import { liveQueriesApi } from "../../../../api/inventory/live-queries.ts";
import { shellArgument, shellOption, shellWord } from "../../../../text/shell.ts";
import { client, useRead } from "../../../api.ts";
import { PageLink } from "../../../frame/page-link.tsx";
import { AsCommand } from "../../../parts/as-command.tsx";
import { Form, SelectField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { SqlField } from "../../../parts/sql/sql-field.tsx";
import { maySomewhere } from "../../../session.ts";
import { useGo, useTeamId, useUrl } from "../../../url.ts";
import { SavedQueryPicker } from "./saved-query-picker.tsx";
import { SelectorField } from "./selector-field.tsx";
import { TargetCount } from "./target-count.tsx";
import { TargetList } from "./target-list.tsx";
import { requestOf, type TargetMode, type Targets, targetModes, targetsIn } from "./targets.ts";

interface LiveQueryFormProps {
  readonly sql: string;
  /** The saved query that is run. Null: the SQL is new. */
  readonly query: Query | null;
}

const waits = [
  { value: "", label: "Only hosts that are online now" },
  { value: "1h", label: "Also hosts that come online within an hour" },
  { value: "24h", label: "Also hosts that come online within a day" },
  { value: "7d", label: "Also hosts that come online within a week" },
];

/** SQL and targets, and the button that runs it. */
export function LiveQueryForm({ sql, query }: LiveQueryFormProps): ReactElement {
  const go = useGo();
  const teamId = useTeamId();
  const { all } = useUrl();
  const [targets, setTargets] = useState(() => targetsIn(all));
  const { data } = useRead(labelsApi.summary);
  const allHosts = data?.labels.find(({ name, label_type }) => name === "All Hosts" && label_type === "builtin")?.id;
  const request = requestOf(targets, { teamId, allHosts });
  const form = useForm({
    initial: { query: sql, queue_until: "" },
    hasDryRun: false,
    send: (values, options) => client.call(liveQueriesApi.create, { body: bodyOf(values, query, request) }, options),
    onDone: ({ live_query }) => go(`/queries/live/${live_query.id}`),
  });
  return (
    <Form form={form} submit="Run">
      {query === null ? (
        <SqlField form={form} name="query" placeholder="SELECT name, version FROM os_version" />
      ) : (
        <SavedSql query={query} />
      )}
      <div className="toolbar">
        <SavedQueryPicker />
        <AsCommand
          command={commandOf(form.values.query, query, targets)}
          method="POST"
          path="/api/v1/svc/queries/live"
          body={bodyOf(form.values, query, request)}
        />
      </div>
      <TargetFields targets={targets} onChange={(change) => setTargets({ ...targets, ...change })} query={query} />
      <TargetCount targets={request} teamId={teamId} queryId={query?.id ?? null} />
      <SelectField form={form} name="queue_until" label="Hosts that are offline" options={waits} />
    </Form>
  );
}

const MAX_WAIT = "10m";

const bodyOf = (
  values: { readonly query: string; readonly queue_until: string },
  query: Query | null,
  targets: ReturnType<typeof requestOf>,
) => ({
  ...(query === null ? { query: values.query } : { query_id: query.id }),
  ...targets,
  ...(values.queue_until === "" ? { timeout: MAX_WAIT } : { queue_until: values.queue_until }),
});

function commandOf(sql: string, query: Query | null, targets: Targets): string {
  const where = targetOptions(targets).join(" ");
  if (query !== null) return `svc query ${shellOption("query", query.name)} ${where}`.trim();
  // A comment at its start would be read as an option: then the SQL comes last.
  return sql.startsWith("-")
    ? `svc query ${where} ${shellArgument(sql)}`
    : `svc query ${shellWord(sql)} ${where}`.trim();
}

function targetOptions({ mode, where, hosts, labels, teams }: Targets): readonly string[] {
  if (mode === "all") return ["--all-hosts"];
  if (mode === "selector") return [shellOption("where", where)];
  const listed = { hosts: hosts.map(({ id }) => id), labels, teams };
  return Object.entries(listed).flatMap(([name, ids]) => (ids.length === 0 ? [] : [`--${name} ${ids.join(",")}`]));
}

function SavedSql({ query }: { readonly query: Query }): ReactElement {
  const url = useUrl();
  return (
    <section aria-label="Saved query">
      <p>
        Saved query: <PageLink href={`/queries/${query.id}`}>{query.name}</PageLink>{" "}
        {maySomewhere("queries:run_new") && (
          <button type="button" className="plain small" onClick={() => url.set({ query_id: null })}>
            New SQL instead
          </button>
        )}
      </p>
      <ScrollingText text={query.query} />
    </section>
  );
}

const modeNames: Readonly<Record<TargetMode, string>> = {
  all: "All hosts",
  selector: "Hosts that a selector matches",
  list: "Hosts, labels and teams that you choose",
};

interface TargetFieldsProps {
  readonly targets: Targets;
  readonly onChange: (change: Partial<Targets>) => void;
  readonly query: Query | null;
}

function TargetFields({ targets, onChange, query }: TargetFieldsProps): ReactElement {
  const teamId = useTeamId();
  return (
    <fieldset className="targets">
      <legend>Targets</legend>
      {targetModes.map((mode) => (
        <label key={mode} className="check">
          <input type="radio" name="targets" checked={targets.mode === mode} onChange={() => onChange({ mode })} />
          {modeNames[mode]}
        </label>
      ))}
      {targets.mode === "selector" && (
        <SelectorField value={targets.where} teamId={teamId} onChange={(where) => onChange({ where })} />
      )}
      {targets.mode === "list" && <TargetList targets={targets} onChange={onChange} queryId={query?.id ?? null} />}
    </fieldset>
  );
}
