import HealthModel
import HealthStore
import PeerProtocol

/// What one phone sends in one run: what is new of each type first, then what an interrupted walk has left, then the
/// types whose turn it is to be read from end to end.
struct HealthAppTransferAnswer: IncomingAnswer {
  private typealias AppType = HealthAppTransferRequest.AppType
  private typealias Walk = HealthAppTransferWalk

  /// How old the last walk through a type is when the next is due, in seconds: four weeks, and a day where the counts do
  /// not agree.
  private static let sweepAge: Int64 = 28 * 86_400
  private static let doubtfulSweepAge: Int64 = 86_400

  // The announcement says how it is called, and the phone's name may be that of many.
  var peerName: String? { nil }
  var expected: Int? { nil }
  let owner: RecordOwner?
  let sender: String?
  var bytesReceived: Int { client.bytesReceived }
  // One is counted for asking at all.
  var furtherRequests: Int { max(0, client.requests - 1) }

  private let client: HealthAppTransferClient
  private let store: HealthStore
  /// Only these; empty for all.
  private let wanted: Set<SampleType>
  /// Whether only what is new is asked for.
  private let isHurried: Bool
  private var position: HealthAppTransferPosition
  /// What is yet to be done, last first; `nil` before the phone has said what it has.
  private var tasks: [(AppType, Walk.Task)]?
  private var walk: Walk?
  /// Whether what is not listed any more is looked for, and what was found.
  private let infersDeletions: Bool
  private var findings: [Absences.Finding] = []
  /// How many rows there were of each type when this began.
  private let before: [String: Int]
  private var isOver = false
  private var failure: (any Error)?

  init(
    _ client: HealthAppTransferClient, _ settings: PullSettings, _ position: HealthAppTransferPosition, isHurried: Bool,
    owner: RecordOwner?
  ) {
    (self.client, store, wanted) = (client, settings.store, Set(settings.types))
    (self.position, self.isHurried, self.owner) = (position, isHurried, owner)
    (sender, infersDeletions) = (settings.server.id.hex, settings.infersDeletions)
    before = position.types.compactMapValues(\.count)
  }

  mutating func batches(during write: Ongoing?, beside bytes: Int) async -> IncomingBatches {
    var arrival = IncomingBatches()
    let before = client.bytesReceived
    do {
      if let batch = try await next() { arrival.batches = [batch] }
      arrival.bytes = client.bytesReceived - before
    } catch {
      (isOver, failure) = (true, error)
    }
    return arrival
  }

  func requireEnd() throws {
    if let failure { throw failure }
  }

  private mutating func next() async throws -> ChangeFeedBatch? {
    if isOver { return nil }
    if tasks == nil { try await begin() }
    while true {
      if walk == nil {
        guard let (type, task) = tasks?.popLast() else { break }
        if task == .sweep, findings.contains(where: { $0.name == type.name }) { continue }
        walk = Walk(
          type, position.types[type.name] ?? .init(), task, client, into: store, sender: infersDeletions ? sender : nil)
      }
      guard var current = walk else { break }
      let step = try await current.next()
      let isNews = position.types[current.type.name] != current.state
      position.types[current.type.name] = current.state
      walk = step.isLast ? nil : current
      if step.isLast { note(current) }
      if !step.samples.isEmpty || isNews { return try batch(step.samples, more: true) }
    }
    isOver = true
    let deleted = conclude()
    return try batch([], deleted: deleted, more: false)
  }

  private mutating func note(_ walk: Walk) {
    let (name, total) = (walk.type.name, walk.state.count)
    if let missing = walk.missing, let total {
      findings.append(Absences.Finding(name: name, missing: missing, total: total, before: before[name]))
    } else {
      position.absences?.look(name, total: total)
    }
  }

  /// What counts as deleted on the phone.
  private mutating func conclude() -> [Sample] {
    guard infersDeletions else { return [] }
    var absences = position.absences ?? Absences()
    let deleted = absences.conclude(findings, now: client.now.seconds)
    position.absences = absences
    return deleted
  }

  private mutating func begin() async throws {
    let (known, unknown) = try await client.types()
    // Nothing at all is what a locked phone says, too.
    (position.listsNothing, position.unknown) = (known.isEmpty && unknown.isEmpty, unknown)
    let types = known.filter { wanted.isEmpty || wanted.contains($0.type) }
    let now = client.now.seconds
    let interrupted = types.filter { position.types[$0.name].map { $0.count == nil || $0.walk != nil } ?? true }
    let due = types.filter { type in
      guard let state = position.types[type.name], state.walk == nil, let swept = state.swept else { return false }
      return now - swept > (state.isDoubtful ? Self.doubtfulSweepAge : Self.sweepAge)
    }.sorted { position.types[$0.name]?.swept ?? 0 < position.types[$1.name]?.swept ?? 0 }
    var tasks = types.map { ($0, Walk.Task.news) } + interrupted.map { ($0, .rest) }
    if !isHurried { tasks += (infersDeletions ? types : due).map { ($0, .sweep) } }
    // What is not listed at all says nothing, and what was missing before has to be missed anew.
    for name in position.types.keys where !known.contains(where: { $0.name == name }) {
      position.absences?.look(name, total: nil)
    }
    self.tasks = tasks.reversed()
  }

  private func batch(_ samples: [Sample], deleted: [Sample] = [], more: Bool) throws -> ChangeFeedBatch {
    var coder = ChangeCoder()
    for sample in deleted { coder.add(Tombstone(of: sample, deleted: client.now, road: .healthAppTransfer)) }
    for sample in samples { try coder.add(sample, road: .healthAppTransfer) }
    return ChangeFeedBatch(changes: coder.changes, token: position.text, more: more)
  }
}
