import type { ReactElement } from "react";
import type { InputOf } from "../../../../api/endpoint.ts";
import { labelsApi } from "../../../../api/hosts/labels.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, SelectField, TextAreaField, TextField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";
import { PlanButton } from "../../../parts/plans/plan-button.tsx";
import { may } from "../../../session.ts";
import { planOfNewLabel } from "./label-plan.ts";
import { PreviewLine } from "./label-preview.tsx";
import { linesOf } from "./lines.ts";

const kinds = [
  { value: "dynamic", label: "Query: hosts for which SQL returns a row" },
  { value: "where", label: "Selector: hosts that match it, always" },
  { value: "end_user_idp_group", label: "Group of the user in the identity provider" },
  { value: "end_user_idp_department", label: "Department of the user in the identity provider" },
  { value: "manual", label: "Manual: hosts that are named" },
] as const;

const platforms = [
  { value: "", label: "all" },
  { value: "darwin", label: "macOS" },
  { value: "windows", label: "Windows" },
  { value: "linux", label: "Linux" },
  { value: "chrome", label: "ChromeOS" },
];

interface Values {
  readonly [name: string]: string;
  readonly name: string;
  readonly description: string;
  readonly kind: string;
  readonly query: string;
  readonly platform: string;
  /** The selector, or the value of the vital. */
  readonly criteria: string;
  readonly hosts: string;
}

type Body = NonNullable<InputOf<typeof labelsApi.create>["body"]>;

/** What decides which hosts have the label. */
function sourceOf({ kind, query, platform, criteria, hosts }: Values): Omit<Body, "name" | "description"> {
  if (kind === "dynamic") return { query, platform };
  if (kind === "manual") return { hosts: linesOf(hosts) };
  return { criteria: kind === "where" ? { where: criteria } : { vital: kind, value: criteria } };
}

const isChosen = ({ kind, query, criteria, hosts }: Values): boolean =>
  (kind === "dynamic" ? query : kind === "manual" ? hosts : criteria).trim() !== "";

export function NewLabelDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const outdate = useOutdate();
  const initial: Values = {
    name: "",
    description: "",
    kind: "dynamic",
    query: "",
    platform: "",
    criteria: "",
    hosts: "",
  };
  const form = useForm<Values, unknown>({
    initial,
    send: (values, options) => {
      const { name, description } = values;
      return client.call(labelsApi.create, { body: { name, description, ...sourceOf(values) } }, options);
    },
    onDone: (_, { name }) => {
      notifyDone(`${name} is created.`);
      changed();
    },
  });
  const changed = () => {
    onClose();
    void outdate(labelsApi.list, labelsApi.summary);
  };
  const { kind } = form.values;
  return (
    <Dialog title="Create label" onClose={onClose}>
      <Form
        form={form}
        submit="Create label"
        beside={
          may("labels:write_any", null) && (
            <PlanButton
              name={form.values.name}
              change={() => planOfNewLabel(form.values)}
              onApplied={changed}
              onKept={onClose}
            />
          )
        }
        onCancel={onClose}
      >
        <TextField form={form} name="name" label="Name" />
        <TextField form={form} name="description" label="Description" />
        <SelectField form={form} name="kind" label="Kind" options={kinds} />
        {kind === "dynamic" && (
          <>
            <TextAreaField form={form} name="query" label="SQL" rows={5} />
            <SelectField form={form} name="platform" label="Platform" options={platforms} />
          </>
        )}
        {kind === "where" && (
          <TextField
            form={form}
            name="criteria"
            label="Selector of the hosts"
            hint={
              <>
                As in the list of hosts: <code>platform = darwin and os.version &lt; 15</code>
              </>
            }
          />
        )}
        {kind.startsWith("end_user") && <TextField form={form} name="criteria" label="Its name" />}
        {kind === "manual" && <HostsField form={form} />}
        <PreviewLine body={isChosen(form.values) ? sourceOf(form.values) : null} />
      </Form>
    </Dialog>
  );
}

const HostsField = ({ form }: { readonly form: ReturnType<typeof useForm<Values, unknown>> }) => (
  <TextAreaField
    form={form}
    name="hosts"
    label="Hosts"
    rows={6}
    hint="Serial numbers, UUIDs or hostnames, one on each line. Unknown ones are left out."
  />
);
