/** A fresh clone: what is said while its dependencies are installed. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** A folder of this name with the scripts alone, for which nothing has to be installed. */
function newClone(name: string): string {
  // The scripts name their folder as it is; that of the system may be a link, as on a Mac.
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-clone-')))
  onTestFinished(() => rmSync(around, { recursive: true }))
  const clone = join(around, name)
  mkdirSync(join(clone, 'scripts'), { recursive: true })
  for (const script of ['install.mjs', 'installing.mjs', 'place.cjs', 'platforms.mjs', 'test.mjs'])
    copyFileSync(join('scripts', script), join(clone, 'scripts', script))
  writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}}')
  return clone
}

test('standard output stays for what a command says, also where it installs first', () => {
  const clone = newClone('clone')
  writeFileSync(join(clone, 'npm'), '#!/bin/sh\necho "added 1 package"\n', { mode: 0o755 })
  const program = `(await import('./scripts/install.mjs')).ensureInstalled(); console.log('{"ready":1}')`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: clone,
    env: { ...process.env, PATH: `${clone}${delimiter}${process.env.PATH}` },
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([0, '{"ready":1}\n'])
  expect(stderr).toBe('Installing the locked dependencies ...\nadded 1 package\n')
})

test.each([
  ['who?', 'Lockstep cannot run in a folder with a question mark in its path'],
  ['no#1', 'The tests cannot run in a folder with % or # in its path'],
  ['a%20b', 'The tests cannot run in a folder with % or # in its path'],
])('tests in a folder %j say why they cannot run there', (name, says) => {
  const clone = newClone(name)
  mkdirSync(join(clone, 'node_modules'))
  writeFileSync(join(clone, 'node_modules', '.package-lock.json'), '{"packages":{}}')
  const { stderr, status } = spawnSync(process.execPath, ['scripts/test.mjs'], {
    cwd: clone,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, `${says}: ${clone}\n`])
})

/** What a program in the clone says on standard error, and its status. */
function saidIn(clone: string, command: string, env: NodeJS.ProcessEnv = {}) {
  const { stderr, status } = spawnSync('/bin/sh', ['-c', command, process.execPath], {
    cwd: clone,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  })
  return [status, stderr]
}

const install = `"$0" --input-type=module -e "(await import('./scripts/install.mjs')).ensureInstalled()"`

test('where npm is not there it is said', () => {
  expect(saidIn(newClone('clone'), install, { PATH: '/nowhere' })).toEqual([
    1,
    'Installing the locked dependencies ...\nnpm cannot be run, and without it nothing is installed: ENOENT\n',
  ])
})

test('what was taken out of an installation is installed again', () => {
  const clone = newClone('clone')
  const packages = JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } })
  mkdirSync(join(clone, 'node_modules', 'a'), { recursive: true })
  writeFileSync(join(clone, 'package-lock.json'), packages)
  writeFileSync(join(clone, 'node_modules', '.package-lock.json'), packages)
  writeFileSync(join(clone, 'node_modules', 'a', 'package.json'), '{}')
  expect(saidIn(clone, install, { PATH: '/nowhere' })).toEqual([0, ''])
  rmSync(join(clone, 'node_modules', 'a'), { recursive: true })
  expect(saidIn(clone, install, { PATH: '/nowhere' })).toEqual([1, expect.stringMatching(/^Installing /)])
})

test('a platform runs without the tools of its makers, and tests install them, whatever npm was told', () => {
  const clone = newClone('clone')
  const packages = { 'node_modules/tool': { version: '1.0.0', dev: true } }
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ packages }))
  mkdirSync(join(clone, 'node_modules'))
  writeFileSync(join(clone, 'node_modules', '.package-lock.json'), '{"packages":{}}')
  writeFileSync(join(clone, 'npm'), '#!/bin/sh\necho "$@"\nexit 3\n', { mode: 0o755 })
  const env = { PATH: `${clone}${delimiter}${process.env.PATH}`, NODE_ENV: 'production' }
  expect(saidIn(clone, install, env)).toEqual([0, ''])
  expect(saidIn(clone, '"$0" scripts/test.mjs', env)).toEqual([
    3,
    expect.stringContaining('\nci --no-audit --no-fund --loglevel=error --include=dev\n'),
  ])
})

test('a process that start keeps alive installs nothing below it', () => {
  expect(saidIn(newClone('clone'), install, { PATH: '/nowhere', LOCKSTEP_HELD: '1' })).toEqual([0, ''])
})

test.each(['Cannot find native binding. npm has a bug', 'The package "@esbuild/x" could not be found, and'])(
  'without the parts that are made for this kind of machine it is said what to install: %s',
  (lacking) => {
    const clone = newClone('clone')
    writeFileSync(join(clone, 'scripts', 'typescript.mjs'), `throw new Error(${JSON.stringify(lacking)})`)
    mkdirSync(join(clone, 'node_modules'))
    writeFileSync(join(clone, 'node_modules', '.package-lock.json'), '{"packages":{}}')
    for (const script of ['lockstep.mjs', 'program.mjs'])
      copyFileSync(join('scripts', script), join(clone, 'scripts', script))
    expect(saidIn(clone, '"$0" scripts/lockstep.mjs')).toEqual([
      1,
      'Packages made for this kind of machine are not installed: run npm ci --include=optional\n',
    ])
  },
)

test.runIf(process.platform === 'linux')('too few open files are said before anything is opened', () => {
  expect(saidIn(newClone('clone'), 'ulimit -n 100 && exec "$0" scripts/test.mjs')).toEqual([
    1,
    'Lockstep needs 160 open files, here are only 100: allow more by ulimit -n\n',
  ])
})

/** A process of a program with this name in the clone, which runs until the test has ended; its id. */
async function runningIn(clone: string, ...words: string[]): Promise<number> {
  writeFileSync(join(clone, 'scripts', 'lockstep.mjs'), 'setInterval(() => {}, 60_000); console.log(1)')
  copyFileSync(join(clone, 'scripts', 'lockstep.mjs'), join(clone, 'scripts', 'start.mjs'))
  const child = spawn(process.execPath, words, { cwd: clone, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return Number(child.pid)
}

test.runIf(process.platform === 'linux').each([
  ['start.mjs', []],
  ['lockstep.mjs', ['serve']],
  ['lockstep.mjs', ['worker']],
])('nothing is installed below a platform that runs: %s %j', async (name, words) => {
  const clone = newClone('clone')
  const pid = await runningIn(clone, '--no-warnings', `scripts/${name}`, ...words)
  expect(saidIn(clone, install, { PATH: '/nowhere' })).toEqual([
    1,
    `The packages in ${clone} are not those of its package-lock.json, and process ${pid} runs a platform there: stop it, then try again\n`,
  ])
  expect(saidIn(newClone('clone'), install, { PATH: '/nowhere' })).toEqual([
    1,
    expect.stringMatching(/^Inst/),
  ])
})

test('an api and a worker that are started at the same moment after an update install once', async () => {
  const clone = newClone('clone')
  const program = `(await import('./install.mjs')).ensureInstalled(); console.log('runs')`
  writeFileSync(join(clone, 'scripts', 'lockstep.mjs'), program)
  const npm = `echo "$1" >> asked; sleep 1; mkdir node_modules; echo '{"packages":{}}' > node_modules/.package-lock.json`
  writeFileSync(join(clone, 'npm'), `#!/bin/sh\n${npm}\n`, { mode: 0o755 })
  // One of before was killed at work.
  writeFileSync(join(clone, '.installing'), '99999999')
  writeFileSync(join(clone, '.installing-99999999'), '')
  const env = { ...process.env, PATH: `${clone}${delimiter}${process.env.PATH}` }
  const ends = ['serve', 'worker', 'worker'].map(async (command) => {
    const child = spawn(process.execPath, ['scripts/lockstep.mjs', command], {
      cwd: clone,
      env,
      stdio: 'ignore',
    })
    return (await once(child, 'exit'))[0]
  })
  expect(await Promise.all(ends)).toEqual([0, 0, 0])
  expect(readFileSync(join(clone, 'asked'), 'utf8')).toBe('ci\n')
  expect(readdirSync(clone).filter((name) => name.startsWith('.installing'))).toEqual([])
})

test('what starts a program and waits for it is no platform: its own packages could never be installed', () => {
  const clone = newClone('clone')
  const program = `(await import('./install.mjs')).ensureInstalled()`
  writeFileSync(join(clone, 'scripts', 'lockstep.mjs'), program)
  const wrapped = `/bin/sh -c '"$@"; exit $?' sh "$0" scripts/lockstep.mjs serve`
  expect(saidIn(clone, wrapped, { PATH: '/nowhere' })).toEqual([1, expect.stringMatching(/^Installing /)])
})

test('a command beside is no platform', async () => {
  const clone = newClone('clone')
  await runningIn(clone, 'scripts/lockstep.mjs', 'doctor')
  expect(saidIn(clone, install, { PATH: '/nowhere' })).toEqual([1, expect.stringMatching(/^Installing /)])
})

test.runIf(spawnSync('ps', ['-axo', 'pid=,command=']).status === 0)(
  'where the system has no files of processes its list names the platform',
  async () => {
    const clone = newClone('my clone')
    const pid = await runningIn(clone, join(clone, 'scripts', 'lockstep.mjs'), 'worker')
    const look = `console.error(await import('./scripts/platforms.mjs').then((m) => m.platformsOf(process.cwd(), false)))`
    const found = (from: string) => saidIn(from, `"$0" --input-type=module -e "${look}"`)
    expect(found(clone)).toEqual([0, `[ '${pid}' ]\n`])
    expect(found(newClone('my clone'))).toEqual([0, '[]\n'])
  },
)

test('a folder with a backslash in its path is named before Node finds nothing there', () => {
  const clone = newClone('a\\b')
  for (const script of ['start', 'cli', 'test', 'check']) {
    const { stderr, status } = spawnSync('/bin/sh', ['-c', scriptNamed(script)], {
      cwd: clone,
      encoding: 'utf8',
    })
    expect([status, stderr]).toEqual([
      1,
      `Lockstep cannot run in a folder with a backslash in its path: ${clone}\n`,
    ])
  }
})

const scriptNamed = (name: string): string =>
  JSON.parse(readFileSync('package.json', 'utf8')).scripts[name].replace(/^node/, `'${process.execPath}'`)
