/// The paths that a server answers.
public enum Route {
  /// `GET`, open to everyone: ``StatusData``.
  public static let status = "/status"
  /// `GET`, open to everyone: the description of all routes (OpenAPI 3.1).
  public static let openAPI = "/openapi.yaml"
  /// `GET`: ``PairHello``.
  public static let pairHello = PairingProtocol.helloPath
  /// `POST` of a ``PairStartRequest``: ``PairStartResponse``.
  public static let pairStart = PairingProtocol.startPath
  /// `POST` of a ``PairFinishRequest``: ``PairFinishResponse``.
  public static let pairFinish = PairingProtocol.finishPath
  /// `POST` of the code itself, for HealthAppTransfer's clients, which have pinned the certificate already.
  public static let plainPair = "/api/v1/pair"
  /// `GET` with a token: ``HealthTypes``, for HealthAppTransfer's clients.
  public static let types = "/health/types"
  /// `GET` with a token: ``HealthDataPage``, for HealthAppTransfer's clients.
  public static let data = "/health/data"
  /// `GET` with a token: the change feed, streamed in a ``ChangeFeedFormat``.
  public static let changes = "/api/v2/changes"
  /// `GET` with a token: ``DigestData``.
  public static let digest = "/api/v2/digest"
  /// Sums, means and extremes by hour, day, week, month or year.
  public static let statistics = "/api/v2/statistics"
  /// `POST` of a ``PersonClaim`` with a token: ``PersonAnswer``.
  public static let person = "/api/v2/person"
  /// `GET` with a token: ``PairingView``. `DELETE` with one: the client unpairs itself.
  public static let pairing = "/api/v2/pairing"

  /// The port that `hpeer serve` listens on unless told otherwise.
  public static let defaultPort = 8737
}
