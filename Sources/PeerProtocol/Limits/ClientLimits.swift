import HealthModel

/// The limits on the memory, time and futile requests that another machine's answers may cost this machine.
///
/// A server may be hostile, whether paired or only announced. Therefore every buffer and every wait that an answer
/// can cause is bounded by one of these numbers, checked where the memory is allocated. Together they keep a client
/// within 160 MiB. The counterpart on the server is `ServingLimits`.
public struct ClientLimits: Hashable, Sendable {
  // MARK: Any answer

  /// The maximum bytes of an answer outside its body: status lines and header fields, including 1xx responses, chunk
  /// sizes, chunk extensions and trailer fields (RFC 9112).
  public var framingBytes = 64 * 1024
  /// The further framing bytes allowed for each byte of the body. A body in chunks of one byte has five.
  public var framingPerBodyByte = 8
  /// The maximum bytes of a body that is a message or an error. hpeer's have a few hundred.
  public var bodyBytes = 256 * 1024
  /// The maximum number of Unicode scalars shown of a server's message.
  public var messageLength = 200

  /// The maximum bytes of a page of samples from an app on a phone. A thousand samples with all their metadata, or
  /// ten thousand without, have about two million.
  public var appAnswerBytes = 16 << 20

  // MARK: The change feed

  /// The maximum bytes of one compressed batch in columns.
  public var frameBytes = 28 << 20
  /// The maximum bytes of a decompressed batch, or of a batch's lines. hpeer's batches have about six million at
  /// most, plus one sample that exceeds them. The longest samples imported from Apple's exports are parts of routes,
  /// with about fifteen million.
  public var batchBytes = 28 << 20
  /// The decompressed size up to which any compression ratio is accepted. Above it, ``expansion`` applies.
  public var freelyExpandedBytes = 8 << 20
  /// The maximum compression ratio of a batch larger than ``freelyExpandedBytes``. hpeer's largest batches have about
  /// ten.
  public var expansion = 100
  /// The maximum number of samples and tombstones in a batch. hpeer sends at most 5,000.
  public var batchChanges = 50_000
  /// The maximum number of entries in each dictionary of a batch.
  public var dictionaryEntries = 20_000
  /// The maximum bytes of all dictionaries of a batch.
  public var dictionaryBytes = 8 << 20
  /// The budget of one line. A route of 100,000 points, each number with all its digits, has fourteen million bytes.
  public var line = JSONBudget(bytes: 20 << 20, weight: 3_400_000, depth: 132)
  /// The budget of a JSON text in a batch, except a route or an electrocardiogram in columns.
  public var json = JSONBudget.payload
  /// The budget of the JSON text of a route or an electrocardiogram in columns.
  public var columns = JSONBudget.columns
  /// The maximum bytes of a change token, which is sent in a URL.
  public var tokenBytes = 1_000
  /// The maximum number of batches prefetched while earlier batches are written.
  public var batchesAhead = 4
  /// The maximum bytes of the batches being written and prefetched. A single larger batch is still accepted.
  public var bytesAhead = 8 << 20

  // MARK: The pairing

  /// The budget of a peer's description of its pairing with this machine: enough for a scope of all types and many
  /// sources.
  public var pairingView = JSONBudget(bytes: 64 * 1024, weight: 16_000, depth: 16)

  // MARK: The digest

  /// The budget of a digest: about twenty thousand months of types, such as a hundred types over eighteen years.
  public var digest = JSONBudget(bytes: 6 << 20, weight: 2_000_000)

  // MARK: Progress

  /// The minimum bytes, including TLS overhead, that must arrive within a waiting time of twice the silence limit.
  /// Even the worst usable network is far above this rate.
  public var leastBytes = 16_384
  /// The maximum total time spent waiting for one batch.
  public var batchTime = Duration.seconds(1_800)
  /// The maximum number of already known changes accepted in one pull, in addition to twice the number of changes in
  /// the store. A feed contains each change once.
  public var repeatedChanges = 1_000
  /// The maximum number of answers on one connection saying that a digest is still being computed.
  public var busyAnswers = 60
  /// The maximum pause that such an answer may request.
  public var busyPause = Duration.seconds(5)

  /// Creates the limits that `hpeer` uses. Tests set their own.
  public init() {}

  /// Returns another machine's message truncated to ``messageLength`` Unicode scalars. A character may consist of any
  /// number of scalars. The result is not escaped.
  public func shortened(_ message: String) -> String {
    String(message.unicodeScalars.prefix(messageLength))
  }
}
