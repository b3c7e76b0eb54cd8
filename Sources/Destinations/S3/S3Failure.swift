import Foundation

/// The error in an S3 answer: `<Error><Code>SlowDown</Code>…`.
struct S3Failure: Error, Hashable, Sendable {
  let status: Int
  /// The error code, such as `SlowDown`; empty if the answer has none.
  let code: String
  /// The region of the bucket, such as `eu-central-1`, if the answer names it.
  let region: String?
  let retryAfter: Duration?

  /// Parses an answer, or returns `nil` if it is a success.
  ///
  /// - Parameter mayComeLate: whether an answer with status 200 may contain an error, as for a completed upload.
  init?(_ response: HTTPService.Response, mayComeLate: Bool = false) {
    let body = String(decoding: response.body.prefix(64 << 10), as: UTF8.self)
    let isError = !(200...299).contains(response.status)
    guard isError || mayComeLate && XMLElements.first("Error", in: body) != nil else { return nil }
    status = isError ? response.status : 500
    code = XMLElements.first("Code", in: body) ?? ""
    region = (response.header("x-amz-bucket-region") ?? XMLElements.first("Region", in: body)).flatMap(Self.plain)
    retryAfter = RetryAfter.duration(response.header("Retry-After"), now: Date())
  }

  /// Returns the text if it is safe to print.
  private static func plain(_ text: String) -> String? {
    let isPlain = !text.isEmpty && text.utf8.count <= 40 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isPlain ? text : nil
  }

  /// Returns the delivery error, which decides about later attempts.
  func deliveryError(_ bucket: S3Bucket) -> DeliveryError {
    let said = Self.plain(code).map { "\($0), \(status)" } ?? "\(status)"
    if let region, region != bucket.region, [301, 307, 400, 403].contains(status) {
      return .unusable(
        reason: "the bucket \(bucket.name) is in the region \(region), and region is \(bucket.region): set region = "
          + "\"\(region)\"")
    }
    switch (code, status) {
    case ("NoSuchBucket", _): return .unusable(reason: "there is no bucket \(bucket.name) at \(bucket.url.host ?? "")")
    case ("InvalidAccessKeyId", _), ("SignatureDoesNotMatch", _), ("InvalidToken", _), ("ExpiredToken", _), (_, 401),
      ("InvalidClientTokenId", _), ("AuthFailure", _):
      return .unusable(reason: "the credentials are wrong, or no longer valid (\(said))")
    case ("RequestTimeTooSkewed", _):
      return .unusable(reason: "the clock of this machine is wrong by more than 15 minutes: set it")
    case ("AccessDenied", _), (_, 403):
      return .unusable(
        reason:
          "the credentials do not allow this (\(said)): they need s3:GetObject, s3:PutObject, s3:DeleteObject and "
          + "s3:ListBucket")
    case ("EntityTooLarge", _), (_, 413): return .refused(reason: "the file of its day is too large for it (\(said))")
    case ("NotImplemented", _), (_, 501):
      return .unusable(reason: "it does not know what is asked of it (\(said))")
    case (_, 300...399): return .unusable(reason: "it sends elsewhere (\(said)): is endpoint, and region, right?")
    case (_, 408), (_, 429), (_, 500...599), ("SlowDown", _), ("RequestTimeout", _):
      return .temporary(reason: "it is busy (\(said))", retryAfter: retryAfter)
    default: return .unusable(reason: "it refuses this (\(said))")
    }
  }
}
