import HealthModel
import HealthStore
import PeerProtocol

/// The data that one phone sends in one run, type by type in the order that its dialect has planned.
struct PhoneAnswer<Reader: PhoneReader>: IncomingAnswer {
  // The announcement contains the name, and many phones have the same.
  var peerName: String? { nil }
  var expected: Int? { nil }
  let owner: RecordOwner?
  let sender: String?
  var bytesReceived: Int { reader.bytesReceived }
  // The first request is already counted by the pull.
  var furtherRequests: Int { max(0, reader.requests - 1) }

  private let reader: Reader
  private let store: HealthStore
  private let request: PhoneRequest
  private var position: Reader.Position
  /// The remaining steps, last first; `nil` until the phone has listed its types.
  private var steps: [PhonePlan<Reader.Walk>.Step]?
  private var walk: Reader.Walk?
  /// The samples that are no longer listed, by type.
  private var findings: [DeletionInference.Finding] = []
  /// The types that the app could not send this time, with the reasons. The other types are still read.
  private var problems: [String: String] = [:]
  /// The types of which the phone returned less than before, or nothing.
  private var disturbed: Set<String> = []
  /// The number of samples of each type at the beginning.
  private let before: [String: Int]
  private var isOver = false
  private var failure: (any Error)?

  init(
    _ reader: Reader, _ settings: PullSettings, _ position: Reader.Position, isHurried: Bool, owner: RecordOwner?
  ) {
    (self.reader, store, self.position, self.owner) = (reader, settings.store, position, owner)
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
      } catch let error as PeerError {
        guard let reason = error.reasonOfType else { throw error }
        give(up: current, reason)
        continue
      }
      let isNews = position.types[current.type.name] != current.state
      position.types[current.type.name] = current.state
      walk = step.isLast ? nil : current
      if step.isLast { note(current) }
      if !step.samples.isEmpty || isNews { return try batch(step.samples, more: true) }
    }
    isOver = true
    position.problems = problems.isEmpty ? nil : problems
    let deleted = conclude()
    return try batch([], deleted: deleted, more: false)
  }

  /// Returns the next walk, or `nil` if all types are done.
  private mutating func nextWalk() -> Reader.Walk? {
    while let step = steps?.popLast() {
      if problems[step.type.name] != nil { continue }
      // A type that was read completely already is not read again.
      if step.task == .sweep, findings.contains(where: { $0.name == step.type.name }) { continue }
      return reader.walk(
        step, from: position.types[step.type.name] ?? .init(), into: store,
        sender: request.infersDeletions ? sender : nil)
    }
    return nil
  }

  private mutating func begin() async throws {
    let plan = try await reader.plan(&position, request)
    // An unlisted type is no evidence of deletions, and earlier missing samples must be missed twice again.
    for name in position.types.keys where !plan.listed.contains(name) {
      position.absences?.look(name, total: nil)
      if before[name] ?? 0 > 0 { disturbed.insert(name) }
    }
    steps = plan.steps.reversed()
  }

  /// Gives up a type in this run. The samples read so far are kept, and the next run continues from there.
  private mutating func give(up walk: Reader.Walk, _ problem: String) {
    let name = walk.type.name
    (problems[name], self.walk) = (problem, nil)
    if position.types[name] == nil { position.types[name] = .init() }
    refuse(name)
  }

  /// Discards the findings of a type that was not returned as before.
  private mutating func refuse(_ name: String) {
    findings.removeAll { $0.name == name }
    disturbed.insert(name)
    position.absences?.look(name, total: nil)
  }

  private mutating func note(_ walk: Reader.Walk) {
    let name = walk.type.name
    if walk.isWithdrawn { return refuse(name) }
    if let total = walk.total, let before = before[name], total < before { disturbed.insert(name) }
    if let missing = walk.missing, let total = walk.total {
      findings.append(DeletionInference.Finding(name: name, missing: missing, total: total, before: before[name]))
    } else {
      position.absences?.look(name, total: walk.total)
    }
  }

  /// Returns the samples that count as deleted on the phone.
  private mutating func conclude() -> [Sample] {
    // If only some types are read, the state of the others is unknown.
    guard request.infersDeletions, request.types.isEmpty else { return [] }
    var absences = position.absences ?? DeletionInference()
    let deleted = absences.conclude(findings, disturbed: disturbed, now: reader.now.seconds)
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
