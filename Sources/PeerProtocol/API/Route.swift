/// The paths that a server answers.
public enum Route {
  /// The status route, `GET`, without a token: ``StatusData``.
  public static let status = "/status"
  /// The description of all routes (OpenAPI 3.1), `GET`, without a token.
  public static let openAPI = "/openapi.yaml"
  /// The first step of pairing, `GET`: ``PairHello``.
  public static let pairHello = PairingProtocol.helloPath
  /// The second step of pairing, `POST` of a ``PairStartRequest``: ``PairStartResponse``.
  public static let pairStart = PairingProtocol.startPath
  /// The last step of pairing, `POST` of a ``PairFinishRequest``: ``PairFinishResponse``.
  public static let pairFinish = PairingProtocol.finishPath
  /// The pairing route for HealthAppTransfer's clients, `POST` of the code itself. They have already pinned the
  /// certificate.
  public static let plainPair = "/api/v1/pair"
  /// The list of types for HealthAppTransfer's clients, `GET` with a token: ``HealthTypes``.
  public static let types = "/health/types"
  /// The pages of samples for HealthAppTransfer's clients, `GET` with a token: ``HealthDataPage``.
  public static let data = "/health/data"
  /// The change feed, `GET` with a token, streamed in a ``ChangeFeedFormat``.
  public static let changes = "/api/v2/changes"
  /// The digest of the record, `GET` with a token: ``DigestData``.
  public static let digest = "/api/v2/digest"
  /// Sums, means and extremes by hour, day, week, month or year, `GET` with a token.
  public static let statistics = "/api/v2/statistics"
  /// The comparison of persons, `POST` of a ``PersonClaim`` with a token: ``PersonAnswer``.
  public static let person = "/api/v2/person"
  /// The caller's pairing: `GET` with a token returns ``PairingView``; `DELETE` with a token unpairs the caller.
  public static let pairing = "/api/v2/pairing"

  /// The port that `hpeer serve` listens on by default.
  public static let defaultPort = 8737
}
