import HealthModel
import HealthStore
import PeerProtocol

/// The reader of a phone with HealthSync. It reads new samples of each type first, then the rest of interrupted
/// walks, then windows that are due for a count, then types that are due for a complete walk.
struct HealthSyncReader: PhoneReader {
  typealias Walk = HealthSyncWalk
  typealias Position = HealthSyncPosition

  static let road = SampleRoad.healthSync
  /// The ages of the last count and of the last complete walk at which the next is due, in seconds: a week and four
  /// weeks.
  private static let countAge: Int64 = 7 * 86_400
  private static let sweepAge: Int64 = 28 * 86_400
  private static let doubtfulSweepAge: Int64 = 86_400
  /// The number of seconds between two polls of a followed phone.
  private static let pause = 40

  let client: HealthSyncClient
  var limits: ClientLimits { client.limits }
  var clock: any Clock<Duration> { client.clock }
  var now: Timestamp { client.now }
  var bytesReceived: Int { client.bytesReceived }
  var requests: Int { client.requests }

  /// Returns the poll interval. The app allows one request per second.
  func pause(_ wait: Int) -> Int { max(wait, Self.pause) }

  func plan(_ position: inout Position, _ request: PhoneRequest) async throws -> PhonePlan<Walk> {
    let (known, unknown) = try await client.types()
    position.unknown = unknown
    if position.hasRoutes == nil { position.hasRoutes = try await client.hasRoutes() }
    let types = known.filter { request.types.isEmpty || request.types.contains($0.type) }
    let (now, states) = (client.now.seconds, position.types)
    var plan = PhonePlan<Walk>(listed: Set(known.map(\.name)))
    plan.add(.news, of: types)
    plan.add(.rest, of: types.filter { states[$0.name].map { $0.windows.isEmpty || $0.walk != nil } ?? true })
    if request.isHurried { return plan }
    plan.add(
      .count,
      of: types.filter { type in
        guard let state = states[type.name], state.walk == nil, state.windows.count > 1 else { return false }
        return state.counting != nil || now - (state.counted ?? 0) > Self.countAge
      })
    plan.add(
      .sweep,
      of: types.filter { type in
        guard let state = states[type.name], state.walk == nil, let swept = state.swept else { return false }
        return request.infersDeletions || now - swept > (state.isDoubtful ? Self.doubtfulSweepAge : Self.sweepAge)
      })
    return plan
  }

  func walk(
    _ step: PhonePlan<Walk>.Step, from state: Position.TypeState, into store: HealthStore, sender: String?
  ) -> Walk {
    Walk(step.type, state, step.task, client, store: store, sender: sender)
  }
}
