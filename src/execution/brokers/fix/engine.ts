/**
 * The FIX engine jspurefix at work for a conversation: framing, check sums, dictionary, log-on, heartbeats and
 * log-out are its own, the order of messages is ours. Its packages are loaded when the first FIX broker is
 * configured, and nowhere else.
 */
import { connect as connectPlain, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectSecure } from 'node:tls'
import type { IJsFixConfig, ISessionDescription, MsgView } from 'jspurefix'
import { Conversation, type Engine, type Listener } from './conversation.ts'
import type { FixMessage, FixRequest } from './message.ts'
import type { FixSettings } from './settings.ts'

/** The engine's packages. */
export type FixEngine = typeof import('jspurefix')

/** Loads the engine. Throws where the package is not installed. */
export async function loadEngine(): Promise<FixEngine> {
  // The engine's container reads metadata that this package keeps, and does not bring it itself.
  await import('reflect-metadata')
  return import('jspurefix')
}

/** A connection that is open; it has ended when `ended` resolves. */
export interface FixConnection {
  readonly conversation: Conversation
  /** Sends a message; `sent` hears its number, undefined when it did not go out. */
  send(request: FixRequest, sent?: (seqNum: number | undefined) => void): void
  nextOutbound(): number
  /** Logs out and waits for the answer, at most two seconds. */
  logOut(): Promise<void>
  /** Cuts the connection at once. */
  cut(): void
  /** Why, where it was not a log-out. */
  readonly ended: Promise<string | undefined>
}

const connectMs = 10_000
const logOutMs = 2_000

/** Connects and begins to log on. Throws when nobody answers. */
export async function openConnection(
  engine: FixEngine,
  settings: FixSettings,
  numbers: { readonly inbound: number; readonly outbound: number; readonly isReset: boolean },
  listener: Listener,
): Promise<FixConnection> {
  const socket = await connectTo(settings)
  try {
    return await converse(engine, socket, settings, numbers, listener)
  } catch (error) {
    socket.destroy()
    throw error
  }
}

async function converse(
  engine: FixEngine,
  socket: Socket,
  settings: FixSettings,
  { inbound, outbound, isReset }: { inbound: number; outbound: number; isReset: boolean },
  listener: Listener,
): Promise<FixConnection> {
  const config = await configOf(engine, descriptionOf(settings, isReset), { inbound, outbound })
  const transport = new engine.MsgTransport(0, config, new engine.TcpDuplex(socket))
  const transmitter = transport.transmitter as unknown as { readonly msgSeqNum: number }
  const session = new (sessionOf(engine))(config)
  const ours: Engine = {
    transmit: (type, fields, sent) => session.transmit(type, fields, sent),
    nextOutbound: () => transmitter.msgSeqNum,
    hangUp: (reason) => session.requestStop(reason),
  }
  const parties = { sender: settings.senderCompId, target: settings.targetCompId }
  const conversation = new Conversation(ours, listener, parties, inbound)
  session.conversation = conversation
  const ended = session
    .run(transport)
    .then(() => undefined)
    .catch((error: Error) => error.message)
    .finally(() => {
      conversation.ended()
      socket.destroy()
    })
  return {
    conversation,
    send: ({ type, fields }, sent) => session.transmit(type, fields, sent),
    nextOutbound: ours.nextOutbound,
    logOut: async () => {
      // What is sent behind a log-out is acted on by nobody.
      conversation.ended()
      session.done()
      const waiting = new AbortController()
      const tooLate = delay(logOutMs, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([ended, tooLate])
      waiting.abort()
      session.requestStop('logged out')
    },
    cut: () => session.requestStop('cut off'),
    ended,
  }
}

/** The engine's parts for one connection. Where the numbers stand is ours to keep: its own store dies with it. */
async function configOf(
  engine: FixEngine,
  description: ISessionDescription,
  { inbound, outbound }: { inbound: number; outbound: number },
): Promise<IJsFixConfig> {
  const container = new engine.SessionContainer()
  container.registerGlobal(new engine.EmptyLogFactory())
  const system = await container.makeSystem(description)
  const config = system.resolve<IJsFixConfig>(engine.DITokens.IJsFixConfig)
  const create: NonNullable<IJsFixConfig['sessionStoreFactory']>['create'] = (sessionId) => {
    const store = new engine.MemorySessionStore(sessionId)
    store.senderSeqNum = outbound
    store.targetSeqNum = inbound
    return store
  }
  config.sessionStoreFactory = { create }
  return config
}

/** The engine's session, all of whose messages go through a conversation. */
const sessionOf = (engine: FixEngine) =>
  class extends engine.AsciiSession {
    conversation: Conversation | undefined

    constructor(config: IJsFixConfig) {
      super(config)
      // A session that is stopped after its run has ended would throw what nobody hears.
      this.on('error', () => undefined)
    }

    transmit(type: string, fields: object, sent?: (seqNum: number | undefined) => void): void {
      this.send(type, fields, (error, { header }) => sent?.(error ? undefined : header?.MsgSeqNum))
    }

    protected override onMsg(type: string, view: MsgView): void {
      const message = messageOf(type, view)
      if (!message || this.conversation?.arrived(message) !== true) return
      this.sessionState.lastPeerMsgSeqNum = message.seqNum - 1
      super.onMsg(type, view)
    }

    protected override onResendRequest(view: MsgView): void {
      this.conversation?.resend(Number(view.getTyped(7)), Number(view.getTyped(16)))
    }

    protected onReady(): void {
      this.conversation?.loggedOn()
    }

    protected onStopped(): void {
      this.conversation?.ended()
    }

    protected override peerLogout(view: MsgView): void {
      // The engine passes over a log-out while a TestRequest of its own waits, and would go on.
      if (this.getState() === engine.SessionState.AwaitingProcessingResponseToTestRequest)
        this.setState(engine.SessionState.ActiveNormalSession)
      super.peerLogout(view)
    }

    protected onLogon(): boolean {
      // Ours is what was agreed: an answer that names none, or 0, would count as silence at once.
      this.sessionState.peerHeartBeatSecs = this.sessionState.heartBeat
      return true
    }

    protected onApplicationMsg(): void {}
    protected onDecoded(): void {}
    protected onEncoded(): void {}
  }

/** A message as text by tag; undefined when it is garbled: its number stays open and is asked for again. */
function messageOf(type: string, view: MsgView): FixMessage | undefined {
  // The engine sorts a message at the first look at a single value, and needs that before it lists any.
  const seqNum = Number(view.getString(34))
  const values = new Map<number, readonly string[]>()
  const { tagPos = [], nextTagPos = 0 } = view.structure?.tags ?? {}
  for (const { tag } of tagPos.slice(0, nextTagPos)) {
    if (!values.has(tag))
      values.set(
        tag,
        (view.getStrings(tag) ?? []).map((value) => value ?? ''),
      )
  }
  if (Number(values.get(10)?.[0]) !== view.checksum() || !Number.isSafeInteger(seqNum) || seqNum < 1)
    return undefined
  return { type, seqNum, all: (tag) => values.get(tag) ?? [] }
}

const descriptionOf = (settings: FixSettings, isReset: boolean): ISessionDescription => ({
  application: {
    name: 'lockstep',
    type: 'initiator',
    protocol: 'ascii',
    dictionary: 'qf44',
    resilient: false,
    reconnectSeconds: 1,
  },
  Name: 'lockstep',
  BeginString: 'FIX.4.4',
  SenderCompId: settings.senderCompId,
  TargetCompID: settings.targetCompId,
  SenderSubID: settings.senderSubId ?? '',
  TargetSubID: settings.targetSubId ?? '',
  Username: settings.username ?? '',
  Password: settings.password ?? '',
  HeartBtInt: settings.heartbeatSeconds,
  ResetSeqNumFlag: isReset,
})

async function connectTo({ host, port, tls }: FixSettings): Promise<Socket> {
  const socket = tls
    ? connectSecure({
        host,
        port,
        ...(tls.serverName !== undefined && { servername: tls.serverName }),
        ...(tls.ca !== undefined && { ca: tls.ca }),
      })
    : connectPlain({ host, port })
  await new Promise<void>((resolve, reject) => {
    const tooLate = setTimeout(() => socket.destroy(new Error('no connection in time')), connectMs)
    const settle = (error?: Error): void => {
      clearTimeout(tooLate)
      if (error) reject(error)
      else resolve()
    }
    socket.once('error', settle)
    socket.once(tls ? 'secureConnect' : 'connect', () => settle())
  })
  socket.setKeepAlive(true)
  socket.setNoDelay(true)
  return socket
}
