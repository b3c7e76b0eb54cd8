import HealthModel
import HealthStore
import PeerProtocol

/// What one phone sends in one run, one type after the other as its dialect has planned it.
struct PhoneAnswer<Reader: PhoneReader>: IncomingAnswer {
  // The announcement says how it is called, and the phone's name may be that of many.
  var peerName: String? { nil }
  var expected: Int? { nil }
  let owner: RecordOwner?
  let sender: String?
  var bytesReceived: Int { reader.bytesReceived }
  // One is counted for asking at all.
  var furtherRequests: Int { max(0, reader.requests - 1) }

  /// After which it is not the types that the phone has trouble with.
  private static var mostFailures: Int { 8 }

  private let reader: Reader
  private let name: String
  private let store: HealthStore
  private let request: PhoneRequest
  private var position: Reader.Position
  /// What is yet to be done, last first; `nil` before the phone has said what it has.
  private var steps: [PhonePlan<Reader.Walk>.Step]?
  private var walk: Reader.Walk?
  /// What was found that is not listed any more.
  private var findings: [Absences.Finding] = []
  /// How many samples there were of each type when this began.
  private let before: [String: Int]
  /// What the phone failed with while the rest went well, by the app's names.
  private var failures: [(type: String, reason: String)] = []
  private var isOver = false
  private var failure: (any Error)?

  init(
    _ reader: Reader, _ settings: PullSettings, _ position: Reader.Position, isHurried: Bool, owner: RecordOwner?
  ) {
    (self.reader, store, self.position, self.owner) = (reader, settings.store, position, owner)
    name = settings.server.name
    sender = settings.server.id.hex
    request = PhoneRequest(
      types: Set(settings.types), isHurried: isHurried, infersDeletions: settings.infersDeletions)
    before = position.types.compactMapValues(\.samples)
  }

  mutating func batches(during write: Ongoing?, beside bytes: Int) async -> IncomingBatches {
    var arrival = IncomingBatches()
    let before = reader.bytesReceived
    do {
      if let batch = try await next() { arrival.batches = [batch] }
      arrival.bytes = reader.bytesReceived - before
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
    if steps == nil { try await begin() }
    while let current = walk ?? nextWalk() {
      var current = current
      let step: PhoneStep
      do {
        step = try await current.next()
      } catch PeerError.unexpectedAnswer(let status, let message) where failures.count < Self.mostFailures {
        // One type that the phone cannot give must not keep back those after it.
        failures.append((current.type.name, "it answered \(status): \(message)"))
        position.absences?.look(current.type.name, total: nil)
        walk = nil
        continue
      }
      let isNews = position.types[current.type.name] != current.state
      position.types[current.type.name] = current.state
      walk = step.isLast ? nil : current
      if step.isLast { note(current) }
      if !step.samples.isEmpty || isNews { return try batch(step.samples, more: true) }
    }
    isOver = true
    if let first = failures.first {
      failure = PeerError.typesFailed(peer: name, types: failures.map(\.type), reason: first.reason)
    }
    let deleted = conclude()
    return try batch([], deleted: deleted, more: false)
  }

  /// `nil` where nothing is left to read.
  private mutating func nextWalk() -> Reader.Walk? {
    while let step = steps?.popLast() {
      if failures.contains(where: { $0.type == step.type.name }) { continue }
      // What was read from end to end already need not be again.
      if step.task == .sweep, findings.contains(where: { $0.name == step.type.name }) { continue }
      return reader.walk(
        step, from: position.types[step.type.name] ?? .init(), into: store,
        sender: request.infersDeletions ? sender : nil)
    }
    return nil
  }

  private mutating func begin() async throws {
    let plan = try await reader.plan(&position, request)
    // What is not listed at all says nothing, and what was missing before has to be missed anew.
    for name in position.types.keys where !plan.listed.contains(name) { position.absences?.look(name, total: nil) }
    steps = plan.steps.reversed()
  }

  private mutating func note(_ walk: Reader.Walk) {
    let name = walk.type.name
    if let missing = walk.missing, let total = walk.total {
      findings.append(Absences.Finding(name: name, missing: missing, total: total, before: before[name]))
    } else {
      position.absences?.look(name, total: walk.total)
    }
  }

  /// What counts as deleted on the phone.
  private mutating func conclude() -> [Sample] {
    // A type that failed may have become shorter.
    guard request.infersDeletions, failures.isEmpty else { return [] }
    var absences = position.absences ?? Absences()
    let deleted = absences.conclude(findings, now: reader.now.seconds)
    position.absences = absences
    return deleted
  }

  private func batch(_ samples: [Sample], deleted: [Sample] = [], more: Bool) throws -> ChangeFeedBatch {
    var coder = ChangeCoder()
    for sample in deleted { coder.add(Tombstone(of: sample, deleted: reader.now, road: Reader.road)) }
    for sample in samples { try coder.add(sample, road: Reader.road) }
    return ChangeFeedBatch(changes: coder.changes, token: position.text, more: more)
  }
}
