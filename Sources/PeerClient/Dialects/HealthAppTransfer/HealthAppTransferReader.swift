import HealthModel
import HealthStore
import PeerProtocol

/// The reader of a phone with HealthAppTransfer. It reads new samples of each type first, then the rest of
/// interrupted walks, then the types that are due for a complete walk.
struct HealthAppTransferReader: PhoneReader {
  typealias Walk = HealthAppTransferWalk
  typealias Position = HealthAppTransferPosition

  static let road = SampleRoad.healthAppTransfer
  /// The age of the last complete walk at which the next is due, in seconds: four weeks. If the counts do not agree,
  /// a day, doubled after each walk that leaves them in disagreement.
  private static let sweepAge: Int64 = 28 * 86_400
  private static let doubtfulSweepAge: Int64 = 86_400
  static func sweepAge(afterDoubts doubts: Int) -> Int64 {
    min(sweepAge, doubtfulSweepAge << Int64(min(max(doubts, 1) - 1, 5)))
  }
  /// The number of seconds between two polls of a followed phone.
  private static let pause = 15

  let client: HealthAppTransferClient
  var limits: ClientLimits { client.limits }
  var clock: any Clock<Duration> { client.clock }
  var now: Timestamp { client.now }
  var bytesReceived: Int { client.bytesReceived }
  var requests: Int { client.requests }

  /// Returns the poll interval. The phone cannot report changes by itself.
  func pause(_ wait: Int) -> Int { min(wait, Self.pause) }

  func plan(_ position: inout Position, _ request: PhoneRequest) async throws -> PhonePlan<Walk> {
    let (known, unknown) = try await client.types()
    // A locked phone also returns an empty list.
    (position.listsNothing, position.unknown) = (known.isEmpty && unknown.isEmpty, unknown)
    let types = known.filter { request.types.isEmpty || request.types.contains($0.type) }
    let (now, states) = (client.now.seconds, position.types)
    var plan = PhonePlan<Walk>(listed: Set(known.map(\.name)))
    plan.add(.news, of: types)
    plan.add(.rest, of: types.filter { states[$0.name].map { $0.count == nil || $0.walk != nil } ?? true })
    if request.isHurried { return plan }
    if request.infersDeletions {
      plan.add(.sweep, of: types)
    } else {
      let due = types.filter { type in
        guard let state = states[type.name], state.walk == nil, let swept = state.swept else { return false }
        return now - swept > (state.isDoubtful ? Self.sweepAge(afterDoubts: state.doubts ?? 0) : Self.sweepAge)
      }
      plan.add(.sweep, of: due.sorted { states[$0.name]?.swept ?? 0 < states[$1.name]?.swept ?? 0 })
    }
    return plan
  }

  func walk(
    _ step: PhonePlan<Walk>.Step, from state: Position.TypeState, into store: HealthStore, sender: String?
  ) -> Walk {
    Walk(step.type, state, step.task, client, into: store, sender: sender)
  }
}
