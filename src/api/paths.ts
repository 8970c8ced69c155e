// The paths under which endpoints are served.

export const versions = ["v1", "2022-04", "latest"] as const;

export interface Path {
  readonly path: string;
  readonly root: boolean;
  readonly exact?: boolean;
}

/** The path under one version, for example `/api/v1/svc/hosts/:id`. */
export const fullPath = ({ path, root, exact = false }: Path, version: string = "v1"): string =>
  exact ? path : root ? `/api/${version}${path}` : `/api/${version}/svc${path}`;

/** All paths of the endpoint. Paths outside of `svc` are also served without a version. */
export const servedPaths = ({ path, aliases, root, exact }: Required<Path> & { aliases: readonly string[] }) => {
  const paths = [path, ...aliases];
  if (exact) return paths;
  return [
    ...versions.flatMap((version) => paths.map((form) => fullPath({ root, path: form }, version))),
    ...(root ? [`/api${path}`] : []),
  ];
};

/** Whether URLs treat the text as a step in the path, also percent-encoded, so that no path can contain it. */
export const isPathStep = (text: string): boolean => text === "." || text === "..";
