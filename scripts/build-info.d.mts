export interface SourceInfo {
  readonly branch: string;
  readonly revision: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function sourceInfo(root: string, env?: Environment): SourceInfo;
export function buildInfo(
  source: SourceInfo,
  env?: Environment,
): SourceInfo & { readonly build_date: string; readonly build_user: string };
