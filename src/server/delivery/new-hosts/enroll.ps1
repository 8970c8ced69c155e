# Installs the agent of svc as a task of this machine (Windows), and enrolls it.
# Run again, it replaces the agent by the server's version, and changes only what is different.
param(
  [Parameter(Mandatory = $true)][string]$ServerUrl,
  [Parameter(Mandatory = $true)][string]$Token,
  # Certificates to trust instead of the system's (PEM). Default: what the server put into this script.
  [string]$CaFile,
  # Fingerprints of the server's certificate, or of one that signed it.
  [string[]]$Pin = @(),
  # The agent runs no scripts and installs no software.
  [switch]$NoScripts,
  # The agent gets a certificate, and signs its requests with it.
  [switch]$SignRequests
)

$ErrorActionPreference = 'Stop'
# In Windows PowerShell 5.1, showing the progress takes most of the time of a download.
$ProgressPreference = 'SilentlyContinue'
$sha256 = '@AGENT_SHA256@'
# Of a server whose certificate no system trusts.
$authority = '@AUTHORITY@'

$identity = New-Object Security.Principal.WindowsPrincipal([Security.Principal.WindowsIdentity]::GetCurrent())
if (-not $identity.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)) {
  throw 'enroll: run this in a PowerShell that was started as administrator'
}
if ($ServerUrl -notmatch '^https?://') { throw "enroll: $ServerUrl is not a URL" }
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$node = @((Get-Command node.exe -ErrorAction SilentlyContinue).Source, "$env:ProgramFiles\nodejs\node.exe") |
  Where-Object { $_ -and (Test-Path -LiteralPath $_) } | Select-Object -First 1
if (-not $node) { throw 'enroll: Node.js 20.19 or newer is needed. Install it (https://nodejs.org), then run this again.' }
if ([version]((& $node --version).TrimStart('v')) -lt [version]'20.19') {
  throw "enroll: Node.js 20.19 or newer is needed; $node is older"
}

$folder = Join-Path $env:ProgramFiles 'svc-agent'
New-Item -ItemType Directory -Force -Path $folder | Out-Null
$draft = Join-Path $folder 'agent.new.mjs'
# Only administrators and the system can read it; it is removed at the end.
$secret = Join-Path $folder 'secret.tmp'
$ownCa = Join-Path $folder 'ca.tmp.pem'
try {
  $source = "$($ServerUrl.TrimEnd('/'))/enroll/agent.mjs"
  if ($authority) {
    # Windows does not trust the server. Whatever comes is checked below, by the SHA-256 in this script.
    & curl.exe -fsSLk -o $draft $source
    if ($LASTEXITCODE -ne 0) { throw 'enroll: the agent could not be downloaded' }
    if (-not $CaFile) {
      [IO.File]::WriteAllText($ownCa, "$authority`n")
      $CaFile = $ownCa
    }
  } else {
    Invoke-WebRequest -UseBasicParsing -Uri $source -OutFile $draft
  }
  $found = (Get-FileHash -LiteralPath $draft -Algorithm SHA256).Hash.ToLowerInvariant()
  if ($found -ne $sha256) {
    throw "enroll: the agent has the SHA-256 $found instead of $sha256. If the server is just being updated, try again."
  }
  $agent = Join-Path $folder 'agent.mjs'
  Move-Item -LiteralPath $draft -Destination $agent -Force

  New-Item -ItemType File -Force -Path $secret | Out-Null
  & icacls.exe $secret /inheritance:r /grant:r '*S-1-5-18:F' '*S-1-5-32-544:F' | Out-Null
  if ($LASTEXITCODE -ne 0) { throw "enroll: $secret could not be closed to other users (exit code $LASTEXITCODE)" }
  [IO.File]::WriteAllText($secret, $Token)
  $words = @($agent, 'install', '--restart', "--server-url=$ServerUrl", "--enroll-secret-file=$secret")
  if ($CaFile) { $words += "--ca-file=$CaFile" }
  foreach ($one in $Pin) { $words += "--pin=$one" }
  if ($NoScripts) { $words += '--no-scripts' }
  if ($SignRequests) { $words += '--sign-requests' }
  & $node @words
  if ($LASTEXITCODE -ne 0) { throw "enroll: the agent could not be installed (exit code $LASTEXITCODE)" }
} finally {
  foreach ($one in @($draft, $secret, $ownCa)) { Remove-Item -LiteralPath $one -Force -ErrorAction SilentlyContinue }
}
